#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `max`: as many actors as CPUs in every stage. Good until contention or memory limits it.
std::unique_ptr<Policy> make_max(const PolicyContext& context);

}  // namespace forebay::tuner
