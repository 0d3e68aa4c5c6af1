#pragma once

#include <cstddef>

#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// A rate in splits/s that no run of a steady world (steady_part) exceeds in the long run with this
/// allocation: the least of the trainer's, each shared resource's, and the sum over nodes of what
/// each node's stages, CPUs, own resources and link allow. Noise, stalls and order may keep the
/// true rate below.
double rate_bound(const PipelineModel& steady, const Allocation& allocation);

/// The same for the best allocation: every stage has the number of actors that is fastest.
double rate_bound(const PipelineModel& steady);

/// The same for one node's part of the best allocation, before the trainer and what all share.
double node_rate_bound(const PipelineModel& steady, std::size_t node);

/// The mean factor by which a tail lengthens a split's time; of a very heavy one a part of it.
double tail_factor(const StageModel& stage);

}  // namespace forebay::tuner
