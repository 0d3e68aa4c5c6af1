#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `static`: the allocation in the job file (PolicyContext::fixed); one actor per stage if the file
/// gives no numbers. Never changes it.
std::unique_ptr<Policy> make_static(const PolicyContext& context);

}  // namespace forebay::tuner
