#pragma once

#include <cstdint>

#include "tuner/allocation.h"
#include "tuner/model/pipeline_estimate.h"

namespace forebay::tuner {

/// The result of planning.
struct Planned {
  Allocation allocation = {};
  double expected_splits_per_second = 0;
  double headroom = 1;     ///< Factor by which the stages are faster than the expected rate.
  double uncertainty = 0;  ///< Standard deviation over the possible worlds, relative to the rate.
};

/// Whether the actors are as many as may be and fit into memory, with the least prefetch.
bool fits(const PipelineDescription& description, Allocation allocation, const Limits& limits);

/// Returns `wanted` with no more actors in any stage than are safe to try next, given what is
/// known: more might block the stage for long, and can go only when their split is done.
Allocation safe_step(const PipelineEstimate& known, Allocation wanted, const Allocation& current);

/// Plans a whole allocation from the estimate of a pipeline, including noise and doubt.
///
/// Candidates are the fewest actors that carry the best steady rate times a headroom, for the mean
/// estimate and for possible worlds. The candidate with the highest expected rate over those
/// worlds, after a price for actors and memory, wins. The current allocation is a candidate as well
/// and wins a tie.
class Planner {
 public:
  explicit Planner(PipelineDescription description, RewardMode reward = RewardMode::kUsable)
      : description_(std::move(description)), reward_(reward) {}

  Planned plan(const PipelineEstimate& known, const Limits& limits,
               const Allocation& current) const;

 private:
  PipelineDescription description_;
  RewardMode reward_;
};

}  // namespace forebay::tuner
