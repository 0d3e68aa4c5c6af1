#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {

/// The fewest actors with which the stages carry a rate, within a pipeline's bounds. Refers to the
/// description, which must outlive it.
class Carriers {
 public:
  Carriers(const PipelineDescription& description, std::span<const StageCost> costs,
           std::uint64_t memory_bytes, double rate);

  /// For the rate times `headroom`, with one item of prefetch; where the bounds are too small, for
  /// about the most headroom that fits, and one actor a stage if none does.
  Allocation fitting(double headroom);

 private:
  bool fits(double headroom);
  Allocation carrying(double headroom) const;

  const PipelineDescription& description_;
  const Bounds bounds_;
  const double rate_;
  std::vector<ActorsForRate> stages_;  // without their rate limits
  std::vector<double> most_rates_;     // 0: no limit
  // The most headroom that is known to fit, and the least that is known not to.
  double fits_ = 0;
  double exceeds_ = std::numeric_limits<double>::infinity();
};

}  // namespace forebay::tuner
