#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tuner/policy/policies.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Grows a prefetch as tf.data does (prefetch_autotuner.cc): when it was full and then empty when
/// the consumer asked, it is doubled, from 2048 on raised by 2048; never cut.
///
/// Counts within an interval have no order, so an interval that saw both full and empty counts as
/// full only; the prefetch then doubles at the next empty one.
class PrefetchGrowth {
 public:
  explicit PrefetchGrowth(std::uint32_t limit) : limit_(limit) {}

  /// The limit that tf.data would set now.
  std::uint32_t wanted(const Observation& seen);
  /// Sets the limit; a value below wanted() means that memory was refused.
  void set(std::uint32_t limit) { limit_ = limit; }

  std::uint32_t limit() const { return limit_; }

 private:
  std::uint32_t limit_;
  bool was_full_ = false;
};

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
Decide make_autotune(const PolicyContext& context);

/// `autotune-budget`: tf.data's current AUTOTUNE, STAGE_BASED, with a CPU and a RAM budget.
///
/// At every decision it starts from one actor per stage and adds an actor to the stage with the
/// longest time per element, until that time is below the target (the trainer's time per element),
/// that stage is at its maximum, or memory is refused. A stage's time is wall time, averaged with
/// weight 0.1 per split. Its maximum is the current number of CPUs: the thread pool. So the policy
/// is near the optimum if stages compute, and far from it if they wait. Prefetch grows by doubling,
/// within the RAM budget.
///
/// Stronger than the original, which optimises at a period that grows to a minute, counts only
/// buffered elements against half of the memory, and in some versions publishes nothing if the plan
/// does not fit. This policy optimises at every decision, counts whole actors against the whole
/// limit and keeps the part that fits.
Decide make_autotune_budget(const PolicyContext& context);

}  // namespace forebay::tuner
