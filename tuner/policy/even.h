#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `even`: as many actors as CPUs, an equal number in every stage; the first stages get one more if
/// the number does not divide; each within 1 and its stage's own bound. Follows the number of CPUs.
std::unique_ptr<Policy> make_even(const PolicyContext& context);

}  // namespace forebay::tuner
