#include "tuner/model/expected_rate.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "tuner/plan/steady.h"

namespace forebay::tuner {
namespace {

constexpr double kBuffer = 8;  // splits that the queues around a stage absorb
constexpr double kStageLoss = 0.5;
constexpr double kCpuLoss = 0.5;
constexpr double kLimitVariance = 0.56;
constexpr double kLeastKept = 0.5;

// Share of the rate that a stage with relative headroom `headroom` over it loses.
double stage_loss(double headroom, double noise) {
  const double scale = noise * noise / (2 * kBuffer);
  if (scale <= 0) return 0;
  const double x = headroom / scale;
  if (x > 30) return 0;
  return kStageLoss * (x < 1e-6 ? scale : headroom / std::expm1(x));
}

double normal_loss(double x);

// Share of a rate limit that is missed because no actor is free at the moment of a start: the
// number of busy actors varies around the number that the limit needs (the variance of D/G/∞ for
// these noises).
double limit_loss(double actors, double needed, double noise) {
  const double deviation = std::sqrt(needed * kLimitVariance * noise) + 1e-6;
  return deviation / needed * normal_loss((actors - needed) / deviation);
}

// E[max(0, Z - x)] of a standard normal Z.
double normal_loss(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return density - x * 0.5 * std::erfc(x / std::numbers::sqrt2);
}

// A stage's contribution to the number of actors that want a CPU.
struct Demand {
  double wanted = 0;    // CPUs, mean
  double variance = 0;  // of the number of actors that want a CPU
  double busiest = 0;   // share of busy time of the busiest stage
  double spare = 0;     // actors of the busiest stage beyond those that its work needs

  void add(const StageCost& cost, double actors, double work) {
    const double busy = work / actors;
    wanted += work * cost.cpu;
    variance += cost.cpu * work * (1 - cost.cpu * busy);
    if (busy <= busiest) return;
    busiest = busy;
    spare = cost.cpu * actors * (1 - busy);
  }

  // Share of the rate that idle CPUs lose.
  double loss(double cpus) const {
    const double deviation = std::sqrt(std::max(variance, 1e-12));
    const double margin = std::max(0.0, cpus - wanted) + spare;
    return kCpuLoss * deviation / cpus * normal_loss(margin / deviation);
  }
};

}  // namespace

double expected_rate(std::span<const StageCost> costs, std::span<const double> noise,
                     std::span<const std::uint32_t> actors, const RateConditions& given) {
  const double steady = steady_rate(costs, actors, given.cpus, given.trainer_rate);
  double lost = 0;
  Demand demand;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double work = steady * costs[i].seconds * costs[i].slow(actors[i]);  // busy actors
    lost += stage_loss(actors[i] / work - 1, noise[i]);
    if (costs[i].max_rate > 0 && costs[i].max_rate <= steady * (1 + 1e-9)) {
      lost += limit_loss(actors[i], work, noise[i]);
    }
    demand.add(costs[i], actors[i], work);
  }
  lost += demand.loss(given.cpus);
  return steady * std::max(1 - given.loss_scale * lost, kLeastKept);
}

}  // namespace forebay::tuner
