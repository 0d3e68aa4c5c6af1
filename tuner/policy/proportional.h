#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `proportional`: what a person does with a profile. At the first decision that has seen every
/// stage, the CPUs are divided in proportion to the stages' measured service times (largest
/// remainders, at least one actor a stage); that stays, whatever comes after. Until then nothing is
/// changed.
std::unique_ptr<Policy> make_proportional(const PolicyContext& context);

}  // namespace forebay::tuner
