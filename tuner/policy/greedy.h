#pragma once

#include <memory>
#include <vector>

#include "tuner/plan/best_allocation.h"
#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// From one actor a stage the next to the stage with the least rate, to each of them where several
/// are equal, until that does not raise the steady rate, or bounds or the worst case of memory at
/// a prefetch of 1 forbid it. Prefetch is the job's or the most that fits.
Plan greedy_allocation(const PipelineDescription& description, const std::vector<StageCost>& costs,
                       const PlanLimits& limits);

/// `greedy`: plans a whole allocation at every decision from measured rates. Takes every stage to
/// be as fast an actor as it is now, however many there are.
std::unique_ptr<Policy> make_greedy(const PolicyContext& context);

}  // namespace forebay::tuner
