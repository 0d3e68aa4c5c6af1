#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `one`: one actor per stage and the job's prefetch; the start of every run.
std::unique_ptr<Policy> make_one(const PolicyContext& context);

}  // namespace forebay::tuner
