#include "tuner/model/carriers.h"

#include <algorithm>
#include <utility>

namespace forebay::tuner {
namespace {

constexpr double kLimitHeadroom =
    1.3;  // of a stage at a rate limit: no start is missed, and the limit's end is noticed
constexpr int kHalvings = 8;  // of the headroom, to find the most that fits

}  // namespace

Carriers::Carriers(const PipelineDescription& description, std::span<const StageCost> costs,
                   std::uint64_t memory_bytes, double rate)
    : description_(description), bounds_{description.max_actors, memory_bytes}, rate_(rate) {
  for (std::size_t i = 0; i < costs.size(); ++i) {
    StageCost unlimited = costs[i];
    most_rates_.push_back(std::exchange(unlimited.max_rate, 0));
    stages_.emplace_back(unlimited, description.stages[i].max_actors);
  }
}

Allocation Carriers::fitting(double headroom) {
  Allocation most = carrying(headroom);
  if (within(description_, most, bounds_)) return most;
  double low = 0;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + headroom) / 2;
    (fits(middle) ? low : headroom) = middle;
  }
  return low > 0 ? carrying(low) : one_each(description_);
}

// More headroom needs no fewer actors, so the answers for one headroom hold for others.
bool Carriers::fits(double headroom) {
  if (headroom <= fits_) return true;
  if (headroom >= exceeds_) return false;
  const bool fits = within(description_, carrying(headroom), bounds_);
  (fits ? fits_ : exceeds_) = headroom;
  return fits;
}

// A stage that cannot reach the rate has the actors with which it is fastest.
Allocation Carriers::carrying(double headroom) const {
  Allocation carried{.prefetch = 1};
  carried.actors.reserve(stages_.size());
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    double wanted = rate_ * headroom;
    if (most_rates_[i] > 0) wanted = std::min(wanted, most_rates_[i] * kLimitHeadroom);
    const std::uint32_t enough = stages_[i].fewest(wanted);
    carried.actors.push_back(enough > 0 ? enough : stages_[i].fastest());
  }
  return carried;
}

}  // namespace forebay::tuner
