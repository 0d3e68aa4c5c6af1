#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// A pipeline in tf.data's model: each stage is a parallel map.
struct MapStage {
  double seconds = 0;  ///< Per element.
  std::uint32_t parallelism = 1;
  std::uint32_t most = 1;
};

/// How long a consumer waits for a buffer of `size` elements, by producer and consumer time
/// (Node::ComputeWaitTime): the producer's time, times the probability that the buffer is empty.
double buffer_wait_seconds(double producer, double consumer, double size);

/// The modelled time for which the consumer waits for an element (Model::OutputTime with an input
/// time of 0, i.e. an infinitely fast trainer).
double modelled_output_seconds(std::span<const MapStage> stages);

/// Model::OptimizeHillClimb: from one each, always applies the +1 that shortens the output time
/// most, until every stage is at its maximum or the output time is below the work of an element
/// over `cpus`.
void climb(std::vector<MapStage>& stages, double cpus);

/// `autotune`: tf.data's AUTOTUNE of 2022, HILL_CLIMB with the CPU budget (the meaning of DEFAULT
/// until it became MAX_PARALLELISM; that one ends at the same allocation as `max`). Times are wall
/// time, means since the start; the CPU budget is that of the start. Prefetch grows as tf.data's
/// did, and memory is ignored. Optimises at every decision, while the original's period grows to a
/// minute.
std::unique_ptr<Policy> make_autotune(const PolicyContext& context);

}  // namespace forebay::tuner
