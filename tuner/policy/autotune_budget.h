#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `autotune-budget`: tf.data's current AUTOTUNE, STAGE_BASED, with a CPU and a RAM budget.
///
/// At every decision it starts from one actor per stage and adds an actor to the stage with the
/// longest time per element, until that time is below the target (the trainer's time per element),
/// that stage is at its maximum, or memory is refused. A stage's time is wall time, averaged with
/// weight 0.1 per split. Its maximum is the current number of CPUs: the thread pool. So the policy
/// is near the optimum if stages compute, and far from it if they wait. Prefetch grows by doubling,
/// within the RAM budget.
///
/// Stronger than the original, which optimises at a period that grows to a minute, counts only
/// buffered elements against half of the memory, and in some versions publishes nothing if the plan
/// does not fit. This policy optimises at every decision, counts whole actors against the whole
/// limit and keeps the part that fits.
std::unique_ptr<Policy> make_autotune_budget(const PolicyContext& context);

}  // namespace forebay::tuner
