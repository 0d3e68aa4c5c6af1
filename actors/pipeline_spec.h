#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

namespace forebay {

/// `[pipeline]` of the job file: the resources that the pipeline may use.
struct PipelineSpec {
  int cpus = 1;                    ///< CPUs the process may use.
  std::uint64_t memory_bytes = 0;  ///< Hard limit on resident memory; 0: half of what is available.
  std::uint64_t prefetch_bytes =
      0;  ///< Finished batches that may wait; 0: chosen from memory_bytes.
  std::vector<std::uint32_t> actors;  ///< For each stage, at the start.

  std::uint64_t total_actors() const {
    return std::accumulate(actors.begin(), actors.end(), std::uint64_t{0});
  }
};

}  // namespace forebay
