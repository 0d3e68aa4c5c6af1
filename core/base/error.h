#pragma once

#include <cstdint>
#include <string>

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

}  // namespace forebay
