#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "actors/pipeline.h"
#include "engine/run/run_events.h"
#include "engine/run/watch/stall_watch.h"

namespace forebay {

/// Returns one line on what the run waits for: the stage that holds the oldest split, how long, and
/// why. `trainer_is_busy`: the trainer is processing a batch instead of waiting for one.
std::string describe_stall(const PipelineStats& stats, bool trainer_is_busy,
                           std::chrono::nanoseconds now);

/// Returns a count that grows with every split through any stage and every batch taken.
std::uint64_t progress_of(const PipelineStats& stats, std::uint64_t batches_taken);

/// Ends a run's stream of batches after a stop request, and when the run makes no progress.
///
/// Reports a stall once after `run.stall_after`, and again after `run.stall_fail`, each time with
/// the reason; after the second report the stream ends with it as its error. look() is called a few
/// times a second by one thread: a stop request may come from a signal handler, which can only set
/// a flag. In a process of somebody else's, a pipeline that waits for the program does not stall:
/// the program may pause as long as it likes. What the options refer to must outlive it.
class StreamWatch {
 public:
  struct Options {
    JobRun& run;
    const RunSpec& spec;
    const RunEvents& events;
    std::function<void(const std::string&)> say;  ///< Receives the reports.
    std::string prefix = {};                      ///< Begins each report.
  };

  explicit StreamWatch(Options options);

  void look();

 private:
  void stalled(const std::string& what);

  const Options options_;
  StallWatch stalls_;
  bool stopped_ = false;
  bool failed_ = false;
};

}  // namespace forebay
