#include "engine/cluster/hosting/actor_libraries.h"

#include <dlfcn.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>

#include "actors/transform/user_function.h"
#include "core/runtime/supervisor.h"
#include "engine/cluster/hosting/library_file.h"

namespace forebay {

namespace {

/// What a library's function adds.
using AddTypes = void (*)(actors::ActorTypes&);

}  // namespace

/// An open library.
class ActorLibraries::Library {
 public:
  Library(const std::string& path, const std::string& label, LibraryFile file)
      : loaded_(label), file_(std::move(file)) {
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
  const LibraryFile& file() const { return file_; }
  /// kInvalid: it is no library of actors, or one for another version.
  Result<AddTypes> function() const;

  LibraryInfo info;

 private:
  const UserCode::Loaded loaded_;
  const LibraryFile file_;
  void* handle_ = nullptr;
};

Result<AddTypes> ActorLibraries::Library::function() const {
  const void* const version = find("forebay_actors_version");
  void* const function = find("forebay_actors");
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
  return reinterpret_cast<AddTypes>(function);
}

ActorLibraries::ActorLibraries(bool accepts_shipped) : accepts_shipped_(accepts_shipped) {}
ActorLibraries::~ActorLibraries() = default;

Result<std::unique_ptr<ActorLibraries>> ActorLibraries::load(const Options& options) {
  auto libraries =
      std::unique_ptr<ActorLibraries>(new ActorLibraries(options.accept_shipped));  // NOLINT
  for (const std::string& path : options.paths) {
    const auto added = libraries->add(path, "--actors " + path, options.ship);
    if (!added) return fail(Code::kInvalid, "--actors " + path + ": " + added.error().message);
  }
  return libraries;
}

Result<LibraryInfo> ActorLibraries::open_shipped(const std::string& path) {
  return add(path, "shipped library " + std::filesystem::path(path).filename().string(), true);
}

Result<LibraryInfo> ActorLibraries::add(const std::string& path, const std::string& label,
                                        bool ships) {
  // The dynamic loader would search for a name without a slash.
  const std::string file = std::filesystem::absolute(path).string();
  if (auto whole = check_shared_object(file); !whole) return pass(whole);
  auto bytes = LibraryFile::open(file);
  if (!bytes) return pass(bytes);
  LibraryInfo info{.name = std::filesystem::path(file).filename().string(),
                   .bytes = bytes->size(),
                   .digest = {},
                   .types = {},
                   .ships = ships};
  auto digest = bytes->digest();
  if (!digest) return pass(digest);
  info.digest = std::move(*digest);
  if (auto status = check(info); !status) return pass(status);
  auto library = std::make_unique<Library>(file, label, std::move(*bytes));
  if (!*library) {
    const char* why = ::dlerror();
    return fail(Code::kInvalid, why == nullptr ? "it cannot be loaded" : why);
  }
  auto function = library->function();
  if (!function) return pass(function);
  LoadedTypes added;
  const auto crash = catch_crash([&] {
    const InUserCode here(library->code());
    (*function)(added);
  });
  if (crash) return fail(Code::kInvalid, "its function threw: " + crash->message);
  if (!added.problem().empty()) return fail(Code::kInvalid, added.problem());
  if (auto status = types_.merge(added); !status) return pass(status);
  info.types = added.names();
  library->info = info;
  libraries_.push_back(std::move(library));
  return info;
}

std::vector<LibraryInfo> ActorLibraries::list() const {
  std::vector<LibraryInfo> all;
  for (const auto& library : libraries_) all.push_back(library->info);
  return all;
}

Result<LibraryChunk> ActorLibraries::read(const ReadLibrary& read) const {
  for (const auto& library : libraries_) {
    if (!library->info.ships || library->info.digest != read.digest) continue;
    auto bytes = library->file().part(read.offset);
    if (!bytes) return pass(bytes);
    return LibraryChunk{{std::move(*bytes)}};
  }
  return fail(Code::kNotFound, "this node does not ship the library");
}

}  // namespace forebay
