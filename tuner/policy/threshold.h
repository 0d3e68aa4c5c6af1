#pragma once

#include <memory>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// `threshold`: Ray Data's autoscaler of actor pools.
///
/// The utilisation of a stage is the share of its actors' time spent working. Above 0.8, with input
/// queued, the stage gets as many more actors as bring it to 0.8 (at least one); below 0.5 it loses
/// one. An actor counts as one CPU, as in Ray. Half of the CPUs is reserved in equal parts for the
/// stages; the rest goes to the stages that request more, downstream first. Ignores memory and the
/// trainer.
std::unique_ptr<Policy> make_threshold(const PolicyContext& context);

}  // namespace forebay::tuner
