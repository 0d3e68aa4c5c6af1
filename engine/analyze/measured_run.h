#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "engine/analyze/rate_model.h"
#include "engine/analyze/run_sample.h"
#include "engine/analyze/workers.h"
#include "engine/job/job_spec.h"
#include "engine/run/run_events.h"

namespace forebay {

/// What a run of a job showed. The samples are those of its measured time, behind the warm-up.
struct MeasuredRun {
  RunSample first;  ///< At the end of the warm-up.
  RunSample last;
  std::vector<PastSplit> history;
  tuner::PipelineDescription description;
  /// Of all samples, the warm-up's too.
  std::vector<tuner::Observation> observations;
  tuner::Limits limits{};
  std::uint64_t batches = 0;  ///< Finished in the measured time.
  Workers workers;            ///< At its end.

  double seconds() const;
  /// By the trainer's finished steps and its waits, so that a step under way at the end does not
  /// count.
  double rows_per_second() const;
};

/// How a run is measured.
struct Measuring {
  std::string what;  ///< For progress: `as it is`, `pipeline.cpus = 1`.
  std::chrono::nanoseconds length{0};
  double warm_up = 0.4;  ///< Share of the length that is not measured.
  const RunEvents& events;
  /// Receives lines of progress, a few times a second, on any thread.
  std::function<void(const std::string&)> progress;
  std::string index_of;  ///< The folder of the run whose index is read.
};

/// Runs a job for a while as `train` does, without end, checkpoints, logs and evaluations, and
/// returns what its counters say. kUnavailable "stopped": the events' source was asked to stop.
Result<MeasuredRun> measure(const JobSpec& job, const Measuring& measuring);

}  // namespace forebay
