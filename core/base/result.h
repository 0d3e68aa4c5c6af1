#pragma once

#include <string>
#include <utility>

#include <tl/expected.hpp>

#include "core/base/error.h"

namespace forebay {

/// A value or an Error. Unlike its base class, a Result that is ignored causes a warning.
template <class T>
class [[nodiscard]] Result : public tl::expected<T, Error> {
 public:
  using Base = tl::expected<T, Error>;
  using Base::Base;
  Result(Base base) : Base(std::move(base)) {}  // NOLINT: map() and and_then() return Base.
};

/// Success, or an Error.
using Status = Result<void>;

/// Makes the error of any Result: `return fail(Code::kTimeout, "…");`.
inline tl::unexpected<Error> fail(Code code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}

/// Passes an error on to the caller: `if (!status) return pass(status);`.
template <class T>
tl::unexpected<Error> pass(Result<T>& failed) {
  return tl::unexpected<Error>(std::move(failed.error()));
}

}  // namespace forebay
