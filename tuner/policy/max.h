#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `max`: as many actors as CPUs in every stage. Free until contention or memory bites.
std::unique_ptr<Policy> make_max(const PolicyContext& context);

}  // namespace forebay::tuner
