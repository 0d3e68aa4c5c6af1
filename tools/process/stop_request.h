#pragma once

#include "engine/process/stop_source.h"

namespace forebay {

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
