#pragma once

namespace forebay {

/// What the program does about users' code that ends the process: names operator, function and
/// library on stderr, and ends with 1, or with the signal that killed it.
///
/// exit and quick_exit are seen by handlers, crashes and abort by signal handlers on stacks of
/// their own, _exit and _Exit where the program defines them as called_exit()
/// (tools/exit_calls.cpp). What runs in a thread that published nothing (core/base/user_code.h) is
/// put down to the functions that are loaded; without any, the process ends as it would have. A
/// sanitizer keeps its signals. The state behind it is the process's, as that of handlers has to
/// be.
class UserCodeGuard {
 public:
  /// Once, early in main, before any thread starts.
  static void install();

  /// From here on exit() is main's own.
  static void main_ends();

  /// What a call of _exit or _Exit does: ends the process, with an error where users' code made it.
  /// A child that was forked ends as it asks.
  [[noreturn]] static void called_exit(const char* call, int status);
};

}  // namespace forebay
