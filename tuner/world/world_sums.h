#pragma once

#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Appends a node to what is seen of a whole world, whose stages are the lines of world_layout.h:
/// limits, memory and steps are sums; prefetch and times are those of the trainer's own node. The
/// sum begins with no CPUs.
void add_node(const CurrentState& part, bool has_trainer, CurrentState& whole);
void add_node(const Observation& part, bool has_trainer, Observation& whole);

/// The share of its time that an actor of a node's last stage waited to hand over: how much the
/// node's link, or what follows it, holds it back.
double blocked_share(const Observation& node);

}  // namespace forebay::tuner
