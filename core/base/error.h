#pragma once

#include <cstdint>
#include <string>

namespace forebay {

/// What a caller can do about a failure.
enum class Code : std::uint8_t {
  kInvalid,      ///< The request is wrong; retrying it cannot help.
  kNotFound,     ///< No such actor, key, node or file.
  kUnavailable,  ///< The peer or resource is gone for now; retry with back-off.
  kOverloaded,   ///< Out of room; slow down, then retry.
  kTimeout,      ///< No answer in time; it may or may not have happened.
  kCorrupt,      ///< Bytes failed a check; never retry, tell an operator.
};

/// Why something was refused, in words a user can act on: what is wrong, where, what to do.
struct Error {
  Code code = Code::kInvalid;
  std::string message;

  bool operator==(const Error&) const = default;
};

}  // namespace forebay
