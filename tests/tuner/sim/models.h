#pragma once

#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// A stage that takes `seconds`, all of it on a CPU; 1 MB an actor and a split.
inline StageModel stage(const char* name, double seconds) {
  return {{.seconds = seconds}, name, 0, 128, 1'000'000, 1'000'000};
}

/// 8 CPUs, 1 GB, queues of 4, a trainer that is never the bottleneck.
inline PipelineModel line_of(std::vector<StageModel> stages) {
  return {.name = "line",
          .cpus = 8,
          .memory_bytes = 1'000'000'000,
          .base_bytes = 10'000'000,
          .rows_per_split = 100,
          .queue_splits = 4,
          .trainer_step_seconds = 0.0001,
          .prefetch_splits = 4,
          .stages = std::move(stages)};
}

}  // namespace forebay::tuner
