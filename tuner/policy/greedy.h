#pragma once

#include <memory>
#include <vector>

#include "tuner/plan/best_allocation.h"
#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// Starts from one actor per stage and adds one to the stage with the least rate (to each of them
/// if several are equal), until that does not raise the steady rate, or bounds or the worst case of
/// memory at a prefetch of 1 forbid it. Prefetch is the job's or the most that fits.
Plan greedy_allocation(const PipelineDescription& description, const std::vector<StageCost>& costs,
                       const PlanLimits& limits);

/// `greedy`: plans a whole allocation at every decision from measured rates. Assumes that a stage's
/// rate per actor stays the same for any number of actors.
std::unique_ptr<Policy> make_greedy(const PolicyContext& context);

}  // namespace forebay::tuner
