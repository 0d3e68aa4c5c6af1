#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "actors/transform/transform.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// The counters of a run at one moment. A value.
struct RunSample {
  std::chrono::nanoseconds at{0};
  PipelineStats pipeline;
  std::vector<TransformPlan::OperatorTime> operators;
  std::uint64_t rows = 0;     ///< That the trainer was given.
  std::uint64_t batches = 0;  ///< The same in batches.
  std::uint64_t steps = 0;    ///< Batches that the trainer has finished.
  std::chrono::nanoseconds worked{0};
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds paused{0};
  double cpu_seconds = 0;            ///< Of the process.
  double trainer_ready_seconds = 0;  ///< Run delay of the trainer's thread.
};

/// What a run did between two samples, as the tuner's model reads it. `limits` are those of the
/// run. The stages are those of the job, without batch. Pure.
tuner::Observation observation_of(const RunSample& before, const RunSample& now,
                                  const tuner::Limits& limits);

/// Returns the run delay in seconds of a thread by its /proc schedstat (`CPU DELAY SLICES`, in
/// nanoseconds); 0 if the text has none.
double run_delay_of(const std::string& schedstat);

}  // namespace forebay
