#pragma once

#include <memory>
#include <string>
#include <utility>

#include <forebay/udf.h>

#include "core/base/result.h"

namespace forebay {

/// A function of a user's shared library, which stays loaded as long as a copy of this lives.
class UserFunction {
 public:
  /// kInvalid names the library that cannot be opened, the function it lacks, or the version
  /// of forebay/udf.h that does not fit.
  static Result<UserFunction> open(const std::string& library, const std::string& function);

  /// Calls it; what it throws becomes the call's error. False when it failed.
  bool operator()(forebay_udf_call& call) const;

 private:
  UserFunction(std::shared_ptr<void> library, forebay_udf_function function)
      : library_(std::move(library)), function_(function) {}

  std::shared_ptr<void> library_;
  forebay_udf_function function_;
};

}  // namespace forebay
