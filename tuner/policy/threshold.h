#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `threshold`: Ray Data's autoscaler of actor pools.
///
/// The utilisation of a stage is the share of its actors' time spent working. Above 0.8, with input
/// queued, it gets as many more as bring it to 0.8 (one at least); below 0.5 it loses one. An actor
/// counts as one CPU against those there are, as Ray's do. Of the CPUs half is reserved in equal
/// parts, the rest goes to who asks, downstream first. Knows neither memory nor the trainer.
std::unique_ptr<Policy> make_threshold(const PolicyContext& context);

}  // namespace forebay::tuner
