#pragma once

#include <string>
#include <utility>

#include "core/base/error.h"

namespace forebay {

/// Result of a command: its exit status and the reason for the user.
struct Exit {
  int status = 0;
  std::string message;  ///< Printed to stderr after "forebay: "; empty: nothing is printed.

  static constexpr int kDone = 0;
  static constexpr int kFailed = 1;   ///< The run failed.
  static constexpr int kRefused = 2;  ///< Wrong usage or configuration; nothing was started.

  static Exit done() { return {}; }
  static Exit failed(const Error& error) { return {kFailed, error.message}; }
  static Exit refused(const Error& error) { return {kRefused, error.message}; }
  static Exit refused(std::string message) { return {kRefused, std::move(message)}; }
  /// After an orderly stop by `signal`: 129, 130 or 143.
  static Exit stopped(int signal) { return {128 + signal, ""}; }
};

}  // namespace forebay
