#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `oracle`: the best allocation for the true costs, computed at every decision. Prefetch is the
/// file's or the most that fits. Requires `context.truth`.
std::unique_ptr<Policy> make_oracle(const PolicyContext& context);

}  // namespace forebay::tuner
