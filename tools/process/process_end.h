#pragma once

#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/process/stop_source.h"

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
  /// Refused if the error has the code `refusal`, else failed.
  static Exit of(const Error& error, Code refusal) {
    return error.code == refusal ? refused(error) : failed(error);
  }
  /// Of a run that could not begin: refused, but failed where a store gave no answer in time.
  static Exit unprepared(const Error& error) {
    return error.code == Code::kTimeout ? failed(error) : refused(error);
  }
  /// After an orderly stop by `signal`: 129, 130 or 143.
  static Exit stopped(int signal) { return {128 + signal, ""}; }
};

/// Ends the process now with this status: no destructors, no atexit handlers, no flush. Forebay's
/// own code ends the process by this function only; a plain _exit of the program is attributed to a
/// user's library (see user_code_guard.h). Any thread, signal handlers too.
[[noreturn]] void end_process(int status);

/// Flushes stdout. Returns `exit`, or a failure if the disk had no room for what a command printed
/// that was done.
Exit with_output_flushed(Exit exit);

/// Ends the process at once if actors may still be running, since an actor stuck in a user's
/// function would block an orderly end. Everything that had to be saved must be saved before.
[[noreturn]] void leave(const Exit& exit);

/// Handles SIGINT, SIGTERM and SIGHUP as stop requests: the first asks for an orderly stop, a
/// second one ends the process at once with 130, 143 or 129. A SIGHUP that was ignored when the
/// process started (nohup) stays ignored.
///
/// Install once, early in main, before any thread starts. Its state is global, since signal
/// handlers can use only global state.
class StopRequest {
 public:
  static void install();

  /// While an object of this class exists, the first signal ends the process at once: the process
  /// waits for an answer and has nothing to save. One at a time.
  class AtOnce {
   public:
    AtOnce();
    ~AtOnce();
    AtOnce(const AtOnce&) = delete;
    AtOnce& operator=(const AtOnce&) = delete;
  };

  /// The source of the signals' requests. A stop that another process requested may be added here,
  /// too; a signal after it does not count as a second one.
  static StopSource& source();

  static int signal() { return source().signal(); }
  static bool requested() { return source().requested(); }
};

}  // namespace forebay
