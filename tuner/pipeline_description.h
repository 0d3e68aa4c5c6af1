#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace forebay::tuner {

/// The declared properties of a stage, known before any measurement.
struct StageDescription {
  std::string name;
  std::uint32_t max_actors = 128;     ///< The stage's own bound, at least 1.
  std::uint64_t bytes_per_actor = 0;  ///< Of one actor: input, working space, largest result.
};

/// The declared properties of a pipeline: its stages in order and their memory. A value.
struct PipelineDescription {
  std::vector<StageDescription> stages = {};
  std::uint32_t max_actors = 0;           ///< Over all stages; 0: no bound.
  std::uint32_t max_prefetch = 1;         ///< Most finished items that may wait for the trainer.
  std::uint32_t default_prefetch = 1;     ///< The job's prefetch.
  std::uint64_t prefetch_item_bytes = 0;  ///< Of one item, at its largest.
  std::uint64_t fixed_bytes = 0;          ///< Used by every allocation: base, all queues full.
  std::uint64_t rows_per_split = 1;       ///< Mean.
};

/// The resources that the machine grants; may change while a job runs.
struct Limits {
  double cpus = 1;                 ///< Shared by all actors.
  std::uint64_t memory_bytes = 0;  ///< The process is killed above this.
};

}  // namespace forebay::tuner
