#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/model/pipeline_estimate.h"
#include "tuner/reward.h"

namespace forebay::tuner {

/// What a planner settled on.
struct Planned {
  Allocation allocation = {};
  double expected_splits_per_second = 0;
  double headroom = 1;     ///< By how much the stages are faster than the line is expected to be.
  double uncertainty = 0;  ///< Standard deviation over the possible worlds, relative to the rate.
};

/// From what is known of a pipeline, noise and doubt included, to a whole allocation.
///
/// Candidates are the fewest actors that carry the best steady rate times a headroom, for the mean
/// of what is known and for possible worlds; the one with the highest rate expected over those
/// worlds wins, after a price for actors and memory. What stands is a candidate as well and wins a
/// draw.
class Planner {
 public:
  explicit Planner(PipelineDescription description, RewardMode reward = RewardMode::kUsable)
      : description_(std::move(description)), reward_(reward) {}

  Planned plan(const PipelineEstimate& known, const Limits& limits,
               const Allocation& current) const;

 private:
  struct Worlds;
  PipelineDescription within_reach(const PipelineEstimate& known, const Allocation& current) const;
  Allocation carrying(const PipelineDescription& reach, std::span<const StageCost> costs,
                      double rate, double headroom) const;
  Allocation fitting(const PipelineDescription& reach, std::span<const StageCost> costs,
                     double rate, double headroom, const Limits& limits) const;
  bool fits(const Allocation& allocation, const Limits& limits) const;
  std::uint32_t prefetch_for(const Allocation& allocation, const Limits& limits) const;

  PipelineDescription description_;
  RewardMode reward_;
};

}  // namespace forebay::tuner
