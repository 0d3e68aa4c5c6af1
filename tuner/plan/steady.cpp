#include "tuner/plan/steady.h"

#include <algorithm>
#include <limits>

namespace forebay::tuner {

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

}  // namespace forebay::tuner
