#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `autotune-budget`: tf.data's AUTOTUNE of today, STAGE_BASED, with a CPU and a RAM budget.
///
/// At every decision from one actor a stage: the next to the stage with the longest time an
/// element, until that is below the target (what the trainer takes for one), that stage is at its
/// most, or memory is refused. A stage's time is wall time, averaged with weight 0.1 a split. At
/// its most is as many actors as there are CPUs now: the thread pool. That is why it is near the
/// limit where stages compute, and far from it where they wait. Prefetch grows by doubling, within
/// the RAM budget.
///
/// Stronger than the original: it optimises at every decision (whose period grows to a minute),
/// counts whole actors against the whole limit (whose model sees only buffered elements and takes
/// half of the memory for its own) and keeps what fits (some versions publish nothing then).
std::unique_ptr<Policy> make_autotune_budget(const PolicyContext& context);

}  // namespace forebay::tuner
