#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `static`: what the job file says (PolicyContext::fixed), one actor a stage where it says
/// nothing. Never changes it.
std::unique_ptr<Policy> make_static(const PolicyContext& context);

}  // namespace forebay::tuner
