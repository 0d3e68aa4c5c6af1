#pragma once

#include "engine/process/stop_source.h"

namespace forebay {

/// SIGINT, SIGTERM and SIGHUP as a request to stop: the first asks for an orderly stop, a second
/// one ends the process at once with 130, 143 or 129. A SIGHUP that was ignored when the process
/// started (nohup) stays ignored.
///
/// Install once, early in main, before any thread starts. The state behind it is the process's, as
/// a signal handler's has to be.
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

  /// What the signals ask. Another process that was asked may ask here, too; a signal that comes
  /// after it is no second one.
  static StopSource& source();

  static int signal() { return source().signal(); }
  static bool requested() { return source().requested(); }
};

}  // namespace forebay
