#pragma once

#include <atomic>
#include <chrono>

namespace forebay {

/// SIGINT, SIGTERM and SIGHUP as a flag: the first asks for an orderly stop, a second one ends the
/// process at once with 130, 143 or 129. A SIGHUP that was ignored when the process started
/// (nohup) stays ignored.
///
/// Install once, early in main, before any thread starts; the flag may be read from any thread. The
/// state behind it is the process's, as a signal handler's has to be.
class StopRequest {
 public:
  static void install();

  /// While one lives, the first signal ends the process at once: it waits for somebody's answer and
  /// has nothing to save. One at a time.
  class AtOnce {
   public:
    AtOnce();
    ~AtOnce();
    AtOnce(const AtOnce&) = delete;
    AtOnce& operator=(const AtOnce&) = delete;
  };

  /// As if this signal had come, from another process that was asked; one that comes here after it
  /// is no second one. Any thread.
  static void ask(int signal);

  /// The signal that asked, or 0.
  static int signal();
  /// For how long it has been asked for; 0 before.
  static std::chrono::nanoseconds since();
  static bool requested() { return signal() != 0; }
  /// The same as a flag for code that knows nothing of signals.
  static const std::atomic<bool>& flag();
};

}  // namespace forebay
