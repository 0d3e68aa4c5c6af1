#pragma once

#include <cstdint>

namespace forebay {

/// Actors per stage.
struct Allocation {
  int load = 1;
  int decode = 1;
  int shuffle = 1;
  int transform = 1;

  bool operator==(const Allocation&) const = default;
  int total() const { return load + decode + shuffle + transform; }
};

/// `[pipeline]` of the job file: the resources that the pipeline may use.
struct PipelineSpec {
  int cpus = 1;                    ///< CPUs the process may use.
  std::uint64_t memory_bytes = 0;  ///< Hard limit on resident memory; 0: half of what is available.
  std::uint64_t prefetch_bytes =
      0;  ///< Finished batches that may wait; 0: chosen from memory_bytes.
  Allocation allocation;
};

}  // namespace forebay
