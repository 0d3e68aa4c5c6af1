#pragma once

namespace forebay {

/// Handles users' code that ends the process: names operator, function and library on stderr, and
/// ends with status 1 or with the signal that killed the process.
///
/// Exit handlers catch exit and quick_exit; signal handlers on separate stacks catch crashes and
/// abort; called_exit() catches _exit and _Exit if the program defines them by it
/// (tools/exit_calls.cpp). An end in a thread that published no function
/// (core/base/thread/user_code.h) is attributed to the loaded functions; if none is loaded, the
/// process ends as without the guard. A sanitizer keeps its signals. The state is global, as
/// handlers require.
class UserCodeGuard {
 public:
  /// Call once, early in main, before any thread starts.
  static void install();

  /// From now on, exit() is called by main itself.
  static void main_ends();

  /// Implements _exit and _Exit: ends the process, with an error if users' code made the call. A
  /// forked child ends with the status it passes.
  [[noreturn]] static void called_exit(const char* call, int status);
};

}  // namespace forebay
