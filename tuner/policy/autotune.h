#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "tuner/policy/policies.h"

namespace forebay::tuner {

/// A pipeline as tf.data's model sees it: stages that are each a parallel map.
struct MapStage {
  double seconds = 0;  ///< Of one element.
  std::uint32_t parallelism = 1;
  std::uint32_t most = 1;
};

/// How long a consumer waits for a buffer of `size` elements, by producer and consumer time
/// (Node::ComputeWaitTime): the producer's time, times the probability that the buffer is empty.
double buffer_wait_seconds(double producer, double consumer, double size);

/// How long the model thinks the consumer waits for an element (Model::OutputTime with an input
/// time of 0, i.e. an infinitely fast trainer).
double modelled_output_seconds(std::span<const MapStage> stages);

/// Model::OptimizeHillClimb: from one each, always the +1 that shortens the output time most, until
/// every stage is at its most or the output time is below the work of an element over `cpus`.
void climb(std::vector<MapStage>& stages, double cpus);

/// `autotune`: tf.data's AUTOTUNE of 2022, HILL_CLIMB with the CPU budget (which DEFAULT meant
/// until it came to mean MAX_PARALLELISM; that one ends where `max` does). Times are wall time,
/// means since the start; the CPU budget is what there was at the start. Prefetch grows as its did,
/// and nothing looks at memory. Optimises at every decision, where the original's period grows to a
/// minute.
std::unique_ptr<Policy> make_autotune(const PolicyContext& context);

}  // namespace forebay::tuner
