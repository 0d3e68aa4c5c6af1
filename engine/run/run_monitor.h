#pragma once

#include <functional>
#include <string>

#include "core/runtime/ticker.h"
#include "engine/run/job_run.h"
#include "engine/run/stall_watch.h"

namespace forebay {

/// Looks at a running job a few times a second: shows progress and notices stalls.
///
/// Owns a thread from its construction to its end. The run must outlive it.
class RunMonitor {
 public:
  struct Hooks {
    std::function<void()> show_progress;           ///< Each look; must be cheap.
    std::function<void(const std::string&)> warn;  ///< Once a stall.
    std::function<void(const std::string&)>
        give_up;  ///< After `run.stall_fail`; does not return to work.
  };

  RunMonitor(const JobRun& run, const RunSpec& spec, Hooks hooks);

 private:
  void look();

  const JobRun& run_;
  const Hooks hooks_;
  StallWatch stalls_;
  Ticker ticker_;
};

}  // namespace forebay
