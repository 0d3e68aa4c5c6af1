#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// The values that a tuner sets: actors of each stage, and the most finished items that may wait. A
/// value.
struct Allocation {
  std::vector<std::uint32_t> actors = {};  ///< One per PipelineDescription::stages.
  std::uint32_t prefetch = 1;

  std::uint32_t total_actors() const {
    return std::accumulate(actors.begin(), actors.end(), std::uint32_t{0});
  }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// One actor in every stage and the requested prefetch: the start of every tuner.
inline Allocation one_each(const PipelineDescription& description) {
  return {.actors = std::vector<std::uint32_t>(description.stages.size(), 1),
          .prefetch = description.default_prefetch};
}

/// Bytes in use when every queue and the prefetch are full.
inline std::uint64_t worst_case_bytes(const PipelineDescription& description,
                                      const Allocation& allocation) {
  std::uint64_t bytes =
      description.fixed_bytes + allocation.prefetch * description.prefetch_item_bytes;
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    bytes += allocation.actors[i] * description.stages[i].bytes_per_actor;
  }
  return bytes;
}

}  // namespace forebay::tuner
