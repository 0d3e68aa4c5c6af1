#include "actors/transform/user_function.h"

#include <dlfcn.h>

#include <cstdio>
#include <exception>

namespace forebay {
namespace {

std::string last_error() {
  const char* text = ::dlerror();
  return text == nullptr ? "unknown reason" : text;
}

}  // namespace

Result<UserFunction> UserFunction::open(const std::string& library, const std::string& function) {
  std::shared_ptr<void> handle(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL), [](void* opened) {
    if (opened != nullptr) ::dlclose(opened);
  });
  if (handle == nullptr) return fail(Code::kInvalid, "library: " + last_error());
  void* const symbol = ::dlsym(handle.get(), function.c_str());
  if (symbol == nullptr) {
    return fail(Code::kInvalid, "function: " + library + " has no function \"" + function + '"');
  }
  const void* const version = ::dlsym(handle.get(), (function + "_forebay_udf_version").c_str());
  if (version == nullptr) {
    return fail(Code::kInvalid, "function: \"" + function + "\" of " + library +
                                    " is not declared with FOREBAY_UDF of forebay/udf.h");
  }
  const auto built_for = *static_cast<const std::uint32_t*>(version);
  if (built_for != FOREBAY_UDF_VERSION) {
    return fail(Code::kInvalid, "library: " + library + " was built for version " +
                                    std::to_string(built_for) + " of forebay/udf.h, this is " +
                                    std::to_string(FOREBAY_UDF_VERSION) + "; build it again");
  }
  return UserFunction(std::move(handle), reinterpret_cast<forebay_udf_function>(symbol));
}

bool UserFunction::operator()(forebay_udf_call& call) const {
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
