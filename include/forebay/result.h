/// Values or errors of Forebay's actors.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>

namespace forebay::actors {

/// What a caller can do about a failure.
enum class Code : std::uint8_t {
  kInvalid,      ///< The request is wrong; retrying it cannot help.
  kNotFound,     ///< No such actor or node.
  kUnavailable,  ///< The actor or its node is gone for now; retry.
  kOverloaded,   ///< A mailbox or a node is full; slow down, then retry.
  kTimeout,      ///< No answer in time; the request may or may not have been carried out.
  kCorrupt,      ///< Bytes that cannot be read.
};

struct Error {
  Code code = Code::kInvalid;
  std::string message;  ///< What is wrong, where, what to do.
};

/// A value or an error. Use the value only if the result is true, `error()` only if it is false.
template <class T>
class [[nodiscard]] Result {
 public:
  Result() = default;
  Result(T value) : held_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : held_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return held_.index() == 0; }
  T& operator*() { return *std::get_if<0>(&held_); }
  const T& operator*() const { return *std::get_if<0>(&held_); }
  T* operator->() { return std::get_if<0>(&held_); }
  const T* operator->() const { return std::get_if<0>(&held_); }
  const Error& error() const { return *std::get_if<1>(&held_); }

 private:
  std::variant<T, Error> held_;
};

/// Success or an error.
using Status = Result<std::monostate>;

}  // namespace forebay::actors
