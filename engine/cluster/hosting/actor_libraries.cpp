#include "engine/cluster/hosting/actor_libraries.h"

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <utility>

#include "actors/transform/user_function.h"
#include "core/runtime/supervisor.h"

namespace forebay {

/// An open library.
class ActorLibraries::Library {
 public:
  explicit Library(const std::string& path) : loaded_("--actors " + path) {
    const InUserCode here(loaded_.code());
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Library() {
    if (handle_ == nullptr) return;
    const InUserCode here(loaded_.code());
    ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  void* find(const char* symbol) const { return ::dlsym(handle_, symbol); }
  const UserCode& code() const { return loaded_.code(); }

 private:
  const UserCode::Loaded loaded_;
  void* handle_ = nullptr;
};

ActorLibraries::~ActorLibraries() = default;

Result<std::unique_ptr<ActorLibraries>> ActorLibraries::load(
    const std::vector<std::string>& paths) {
  auto libraries = std::unique_ptr<ActorLibraries>(new ActorLibraries());  // NOLINT: private.
  for (const std::string& path : paths) {
    if (auto status = libraries->add(path); !status) {
      return fail(Code::kInvalid, "--actors " + path + ": " + status.error().message);
    }
  }
  return libraries;
}

Status ActorLibraries::add(const std::string& path) {
  // The dynamic loader would search for a name without a slash.
  const std::string file = std::filesystem::absolute(path).string();
  if (auto whole = check_shared_object(file); !whole) return whole;
  auto library = std::make_unique<Library>(file);
  if (!*library) {
    const char* why = ::dlerror();
    return fail(Code::kInvalid, why == nullptr ? "it cannot be loaded" : why);
  }
  const void* const version = library->find("forebay_actors_version");
  void* const function = library->find("forebay_actors");
  if (version == nullptr || function == nullptr) {
    return fail(
        Code::kInvalid,
        "it is no library of actors: write FOREBAY_ACTORS(types) { types.add<…>(\"…\"); } of "
        "forebay/cluster.h");
  }
  const auto built_for = *static_cast<const std::uint32_t*>(version);
  if (built_for != actors::kLibraryVersion) {
    return fail(Code::kInvalid, "it was built for version " + std::to_string(built_for) +
                                    " of forebay/cluster.h, this is " +
                                    std::to_string(actors::kLibraryVersion) + "; build it again");
  }
  const auto crash = catch_crash([&] {
    const InUserCode here(library->code());
    reinterpret_cast<void (*)(actors::ActorTypes&)>(function)(types_);
  });
  libraries_.push_back(std::move(library));
  if (crash) return fail(Code::kInvalid, "its function threw: " + crash->message);
  if (!types_.problem().empty()) return fail(Code::kInvalid, types_.problem());
  return {};
}

}  // namespace forebay
