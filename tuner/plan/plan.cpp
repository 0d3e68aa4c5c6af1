#include "tuner/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace forebay::tuner {
namespace {

// Rates closer than this count as equal: a stage that needs 8 actors for 100/s gets 8, not 9, for
// 100.00000001/s.
constexpr double kSame = 1e-9;

std::uint32_t fastest_actors(const StageCost& cost, std::uint32_t max_actors) {
  // d/dn of n / slow(n) is 0 where beta n^2 = 1 - alpha.
  if (cost.beta <= 0) return cost.alpha <= 1 ? max_actors : 1;
  const double at = std::sqrt(std::max(0.0, 1 - cost.alpha) / cost.beta);
  if (at >= max_actors) return max_actors;
  const auto below = std::max<std::uint32_t>(1, static_cast<std::uint32_t>(at));
  return cost.rate(below) >= cost.rate(below + 1) ? below : std::min(below + 1, max_actors);
}

class Search {
 public:
  Search(const PipelineDescription& description, std::span<const StageCost> costs,
         const PlanLimits& limits)
      : description_(description), costs_(costs), limits_(limits) {
    actors_.prefetch = limits.prefetch;
    actors_.actors.resize(costs.size());
    for (std::size_t i = 0; i < costs.size(); ++i) {
      stages_.emplace_back(costs[i], description.stages[i].max_actors);
    }
  }

  // Whether `rate` is feasible; if so, allocation() is the one with the fewest actors for it.
  bool reaches(double rate) {
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      actors_.actors[i] = stages_[i].fewest(rate);
      if (actors_.actors[i] == 0) return false;
    }
    const Bounds bounds{description_.max_actors, limits_.limits.memory_bytes};
    return within(description_, actors_, bounds) &&
           machine_rate(costs_, actors_.actors, limits_.limits.cpus) >= rate * (1 - kSame);
  }

  double steady() const {
    return steady_rate(costs_, actors_.actors, limits_.limits.cpus, limits_.trainer_rate);
  }

  // An upper bound of every allocation's rate: that of the machine, of the trainer, and of the
  // slowest stage at its peak.
  double bound() const {
    std::vector<std::uint32_t> ones(costs_.size(), 1);
    double rate = machine_rate(costs_, ones, limits_.limits.cpus);
    if (limits_.trainer_rate > 0) rate = std::min(rate, limits_.trainer_rate);
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      rate = std::min(rate, costs_[i].rate(stages_[i].fastest()));
    }
    return rate;
  }

  const Allocation& allocation() const { return actors_; }

 private:
  const PipelineDescription& description_;
  const std::span<const StageCost> costs_;
  const PlanLimits& limits_;
  std::vector<ActorsForRate> stages_;
  Allocation actors_;
};

}  // namespace

double machine_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                    double cpus) {
  double cpu_seconds = 0;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    cpu_seconds += costs[i].seconds * costs[i].cpu * costs[i].slow(actors[i]);
  }
  return cpu_seconds > 0 ? cpus / cpu_seconds : std::numeric_limits<double>::infinity();
}

double steady_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                   double cpus, double trainer_rate) {
  double rate = machine_rate(costs, actors, cpus);
  if (trainer_rate > 0) rate = std::min(rate, trainer_rate);
  for (std::size_t i = 0; i < costs.size(); ++i) rate = std::min(rate, costs[i].rate(actors[i]));
  return rate;
}

ActorsForRate::ActorsForRate(const StageCost& cost, std::uint32_t max_actors)
    : cost_(cost), fastest_(fastest_actors(cost, max_actors)), most_(cost.rate(fastest_)) {}

// n actors reach a rate where n >= k slow(n) with k = rate * seconds: from the smaller root of
// k beta n^2 - (1 - k (alpha - beta)) n + k (1 - alpha) on.
std::uint32_t ActorsForRate::fewest(double rate) const {
  const double enough = rate * (1 - kSame);
  if (most_ < enough) return 0;
  const double k = enough * cost_.seconds;
  const double linear = 1 - k * (cost_.alpha - cost_.beta);
  const double constant = k * (1 - cost_.alpha);
  const double inside = linear * linear - 4 * k * cost_.beta * constant;
  const double root = 2 * constant / (linear + std::sqrt(std::max(0.0, inside)));
  // kSame is far more than what rounding adds to the root.
  return root > 1 ? static_cast<std::uint32_t>(std::min<double>(std::ceil(root), fastest_)) : 1;
}

Plan best_allocation(const PipelineDescription& description, std::span<const StageCost> costs,
                     const PlanLimits& limits) {
  Search search(description, costs, limits);
  Plan best{.allocation = one_each(description)};
  best.allocation.prefetch = limits.prefetch;
  best.splits_per_second =
      steady_rate(costs, best.allocation.actors, limits.limits.cpus, limits.trainer_rate);

  double high = search.bound();
  if (search.reaches(high)) return {search.allocation(), search.steady()};
  double low = best.splits_per_second;
  while (high - low > limits.precision * high) {
    const double middle = low + (high - low) / 2;
    if (search.reaches(middle)) {
      // The actors for `middle` may carry a higher rate: continue from that rate.
      best = {search.allocation(), std::max(middle, search.steady())};
      low = std::max(middle, std::min(high, best.splits_per_second));
    } else {
      high = middle;
    }
  }
  // The fewest actors for the rate found.
  if (search.reaches(low)) best = {search.allocation(), search.steady()};
  return best;
}

}  // namespace forebay::tuner
