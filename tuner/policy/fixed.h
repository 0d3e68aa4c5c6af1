#pragma once

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `one`: one actor per stage and the job's prefetch; the start of every run.
Decide make_one(const PolicyContext& context);

/// `max`: as many actors as CPUs in every stage. Good until contention or memory limits it.
Decide make_max(const PolicyContext& context);

/// `even`: as many actors as CPUs, an equal number in every stage; the first stages get one more if
/// the number does not divide; each within 1 and its stage's own bound. Follows the number of CPUs.
Decide make_even(const PolicyContext& context);

/// `static`: the allocation in the job file (PolicyContext::fixed); one actor per stage if the file
/// gives no numbers. Never changes it.
Decide make_static(const PolicyContext& context);

/// `proportional`: what a person does with a profile. At the first decision at which every stage
/// has completed a split, the CPUs are divided in proportion to the stages' measured service times
/// (largest remainders, at least one actor per stage). That allocation then never changes. Before
/// it nothing is changed.
Decide make_proportional(const PolicyContext& context);

/// `oracle`: the best allocation for the true costs, computed at every decision. Prefetch is the
/// file's or the most that fits. Requires `context.truth`.
Decide make_oracle(const PolicyContext& context);

}  // namespace forebay::tuner
