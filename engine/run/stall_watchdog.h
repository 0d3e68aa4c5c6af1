#pragma once

#include <functional>
#include <string>

#include "engine/run/job_run.h"
#include "engine/run/stall_watch.h"

namespace forebay {

/// Reports a run that makes no progress: once for each stall after `run.stall_after`, and again
/// after `run.stall_fail`, each time with the reason.
///
/// look() is called a few times a second by one thread. The run must outlive it.
class StallWatchdog {
 public:
  struct Hooks {
    std::function<void(const std::string& what)> warn;
    std::function<void(const std::string& what)> fail;
  };

  StallWatchdog(const JobRun& run, const RunSpec& spec, Hooks hooks);

  void look();

 private:
  const JobRun& run_;
  const Hooks hooks_;
  StallWatch stalls_;
  bool failed_ = false;
};

}  // namespace forebay
