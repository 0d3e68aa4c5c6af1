#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <tl/expected.hpp>

namespace forebay {

/// The kind of a failure, by what a caller can do about it.
enum class Code : std::uint8_t {
  kInvalid,      ///< The request is wrong; retrying it cannot help.
  kNotFound,     ///< No such actor, key, node or file.
  kUnavailable,  ///< The peer or resource is gone for now; retry with back-off.
  kOverloaded,   ///< Out of space or capacity; slow down, then retry.
  kTimeout,      ///< No answer in time; the request may or may not have been carried out.
  kCorrupt,      ///< Bytes failed a check; never retry, tell an operator.
};

/// Why an operation failed. The message says what is wrong, where, and what the user can do.
struct Error {
  Code code = Code::kInvalid;
  std::string message;

  bool operator==(const Error&) const = default;
};

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
