#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::tuner {

/// What is declared about a stage, hence known before anything was measured.
struct StageDescription {
  std::string name;
  std::uint32_t max_actors = 128;     ///< The stage's own bound, at least 1.
  std::uint64_t bytes_per_actor = 0;  ///< Of one actor: input, working space, largest result.
};

/// What is declared about a pipeline: its stages in order and what they may take. A value.
struct PipelineDescription {
  std::vector<StageDescription> stages = {};
  std::uint32_t max_actors = 0;           ///< Over all stages; 0: no bound.
  std::uint32_t max_prefetch = 1;         ///< Most finished items that may wait for the trainer.
  std::uint32_t default_prefetch = 1;     ///< What the job asks for.
  std::uint64_t prefetch_item_bytes = 0;  ///< Of one of them, at its largest.
  std::uint64_t fixed_bytes = 0;          ///< Taken whatever the allocation: base, all queues full.
  std::uint64_t rows_per_split = 1;       ///< Mean.
};

/// What the machine grants; may change while a job runs.
struct Limits {
  double cpus = 1;                 ///< Shared by all actors.
  std::uint64_t memory_bytes = 0;  ///< In use above this: killed.
};

}  // namespace forebay::tuner
