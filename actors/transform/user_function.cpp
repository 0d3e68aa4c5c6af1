#include "actors/transform/user_function.h"

#include <dlfcn.h>

#include <cstdio>
#include <exception>
#include <optional>

#include "actors/transform/shared_object.h"

namespace forebay {
namespace {

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

}  // namespace

/// An open library and its one function, which is listed as loaded.
class UserFunction::Library {
 public:
  Library(const std::string& op, const std::string& path)
      : unloading_(op + ": the destructors of " + path) {
    const UserCode loading(op + ": the constructors of " + path);
    const InUserCode here(loading);
    handle_ = ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  }
  ~Library() {
    if (handle_ == nullptr) return;
    const InUserCode here(unloading_);
    ::dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  explicit operator bool() const { return handle_ != nullptr; }
  void* find(const std::string& symbol) const { return ::dlsym(handle_, symbol.c_str()); }

  const UserCode& list(const std::string& name) { return loaded_.emplace(name).code(); }

 private:
  const UserCode unloading_;
  void* handle_ = nullptr;
  std::optional<UserCode::Loaded> loaded_;
};

Result<UserFunction> UserFunction::open(const std::string& op, const std::string& path,
                                        const std::string& function) {
  // The dynamic loader searches for a name without a slash.
  if (path.find('/') != std::string::npos) {
    if (auto whole = check_shared_object(path); !whole) {
      return fail(whole.error().code, "library: " + path + ": " + whole.error().message);
    }
  }
  const auto library = std::make_shared<Library>(op, path);
  if (!*library) return fail(Code::kInvalid, "library: " + last_error());
  void* const symbol = library->find(function);
  if (symbol == nullptr) {
    return fail(Code::kInvalid, "function: " + path + " has no function \"" + function + '"');
  }
  const void* const version = library->find(function + "_forebay_udf_version");
  if (version == nullptr) {
    return fail(Code::kInvalid, "function: \"" + function + "\" of " + path +
                                    " is not declared with FOREBAY_UDF of forebay/udf.h");
  }
  const auto built_for = *static_cast<const std::uint32_t*>(version);
  if (built_for != FOREBAY_UDF_VERSION) {
    return fail(Code::kInvalid, "library: " + path + " was built for version " +
                                    std::to_string(built_for) + " of forebay/udf.h, this is " +
                                    std::to_string(FOREBAY_UDF_VERSION) + "; build it again");
  }
  const UserCode& code = library->list(op + ": " + function + " of " + path);
  return UserFunction(library, reinterpret_cast<forebay_udf_function>(symbol), code);
}

bool UserFunction::operator()(forebay_udf_call& call) const {
  const InUserCode here(*code_);
  try {
    return function_(&call) == 0;
  } catch (const std::exception& thrown) {
    std::snprintf(call.error, call.error_size, "%s", thrown.what());
  } catch (...) {
    std::snprintf(call.error, call.error_size, "it threw something that is no std::exception");
  }
  return false;
}

}  // namespace forebay
