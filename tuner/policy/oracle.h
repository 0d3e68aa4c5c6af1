#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `oracle`: the best allocation for the true costs, asked for at every decision. Prefetch is the
/// file's or the most that fits. `context.truth` has to be there.
std::unique_ptr<Policy> make_oracle(const PolicyContext& context);

}  // namespace forebay::tuner
