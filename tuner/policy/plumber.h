#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `plumber`: Plumber's linear program at every decision: distributes CPUs over stages so that the
/// least R_i theta_i is largest, R_i being splits per measured CPU second; a stage bound to one
/// actor takes one CPU at most. Rounded up. Without such bounds theta_i is in proportion to 1 /
/// R_i. The first stage, which reads, gets the actors that keep the planned rate in flight (the
/// original fits disk bandwidth over parallelism). Models no other waiting, no trainer and no
/// memory.
std::unique_ptr<Policy> make_plumber(const PolicyContext& context);

}  // namespace forebay::tuner
