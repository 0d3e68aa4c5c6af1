#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `proportional`: what a person does with a profile. At the first decision at which every stage
/// has completed a split, the CPUs are divided in proportion to the stages' measured service times
/// (largest remainders, at least one actor per stage). That allocation then never changes. Before
/// it nothing is changed.
std::unique_ptr<Policy> make_proportional(const PolicyContext& context);

}  // namespace forebay::tuner
