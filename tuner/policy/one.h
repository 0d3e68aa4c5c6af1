#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `one`: one actor a stage and the job's prefetch; where everything starts.
std::unique_ptr<Policy> make_one(const PolicyContext& context);

}  // namespace forebay::tuner
