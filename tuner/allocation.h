#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What a tuner sets: actors of each stage, and how many finished items may wait. A value.
struct Allocation {
  std::vector<std::uint32_t> actors = {};  ///< As PipelineDescription::stages.
  std::uint32_t prefetch = 1;

  std::uint32_t total_actors() const {
    return std::accumulate(actors.begin(), actors.end(), std::uint32_t{0});
  }
  friend bool operator==(const Allocation&, const Allocation&) = default;
};

/// One actor in every stage, and the prefetch asked for: where a tuner starts.
inline Allocation one_each(const PipelineDescription& layout) {
  return {.actors = std::vector<std::uint32_t>(layout.stages.size(), 1),
          .prefetch = layout.default_prefetch};
}

/// Bytes in use when every queue and the prefetch are full.
inline std::uint64_t worst_case_bytes(const PipelineDescription& layout,
                                      const Allocation& allocation) {
  std::uint64_t bytes = layout.fixed_bytes + allocation.prefetch * layout.prefetch_item_bytes;
  for (std::size_t i = 0; i < layout.stages.size(); ++i) {
    bytes += allocation.actors[i] * layout.stages[i].bytes_per_actor;
  }
  return bytes;
}

}  // namespace forebay::tuner
