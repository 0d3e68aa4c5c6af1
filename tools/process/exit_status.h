#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"

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

/// Ends the process now with this status: no destructors, no atexit handlers, no flush. Forebay's
/// own code ends the process by this function only; a plain _exit of the program is attributed to a
/// user's library (see user_code_guard.h). Any thread, signal handlers too.
[[noreturn]] void end_process(int status);

/// Ends the process at once if actors may still be running, since an actor stuck in a user's
/// function would block an orderly end. Everything that had to be saved must be saved before.
[[noreturn]] void leave(const Exit& exit);

}  // namespace forebay
