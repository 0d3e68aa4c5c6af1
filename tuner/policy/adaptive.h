#pragma once

#include <vector>

#include "tuner/plan/plan.h"
#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// Starts from one actor per stage and adds one to the stage with the least rate (to each of them
/// if several are equal), until that does not raise the steady rate, or bounds or the worst case of
/// memory at a prefetch of 1 forbid it. Prefetch is the job's or the most that fits.
Plan greedy_allocation(const PipelineDescription& description, const std::vector<StageCost>& costs,
                       const PlanLimits& limits);

/// `greedy`: plans a whole allocation at every decision from measured rates. Assumes that a stage's
/// rate per actor stays the same for any number of actors.
Decide make_greedy(const PolicyContext& context);

/// `plumber`: Plumber's linear program at every decision: distributes CPUs over stages so that the
/// least R_i theta_i is largest, R_i being splits per measured CPU second; a stage bound to one
/// actor takes one CPU at most. Rounded up. Without such bounds theta_i is in proportion to 1 /
/// R_i. The first stage, which reads, gets the actors that keep the planned rate in flight (the
/// original fits disk bandwidth over parallelism). Models no other waiting, no trainer and no
/// memory.
Decide make_plumber(const PolicyContext& context);

/// `threshold`: Ray Data's autoscaler of actor pools.
///
/// The utilisation of a stage is the share of its actors' time spent working. Above 0.8, with input
/// queued, the stage gets as many more actors as bring it to 0.8 (at least one); below 0.5 it loses
/// one. An actor counts as one CPU, as in Ray. Half of the CPUs is reserved in equal parts for the
/// stages; the rest goes to the stages that request more, downstream first. Ignores memory and the
/// trainer.
Decide make_threshold(const PolicyContext& context);

}  // namespace forebay::tuner
