#include "tuner/model/expected_rate.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <numbers>

#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr double kMost = 1e12;   // seconds, or any other quantity here
constexpr double kLeast = 1e-6;  // seconds, of an interval or a time measured in one
constexpr double kMostCpus = 1e6;
constexpr std::uint32_t kMostActors = 1'000'000;
constexpr std::uint64_t kMostSplits = 1'000'000'000'000;

void mend(std::initializer_list<double*> numbers) {
  for (double* number : numbers) {
    *number = std::isfinite(*number) ? std::clamp(*number, 0.0, kMost) : 0.0;
  }
}

void mend(StageObservation& stage) {
  mend({&stage.actor_seconds, &stage.working_seconds, &stage.input_wait_seconds,
        &stage.output_wait_seconds, &stage.cpu_seconds, &stage.done_seconds,
        &stage.done_seconds_squared, &stage.done_cpu_seconds, &stage.done_ready_seconds,
        &stage.done_actors, &stage.queue_fill});
  stage.actors = std::clamp(stage.actors, 1U, kMostActors);
  stage.done = std::min(stage.done, kMostSplits);
  stage.done_ready_seconds = std::min(stage.done_ready_seconds, stage.done_seconds);
  const double served = stage.done_seconds - stage.done_ready_seconds;
  stage.done_cpu_seconds = std::min(stage.done_cpu_seconds, served);
  // Splits that took no time, or that had more actors than possible, are ignored; the time that
  // went into them does not count for the split still in work either.
  const auto done = static_cast<double>(std::max<std::uint64_t>(1, stage.done));
  const bool nothing = served / done < kLeast * kLeast || stage.done_actors / done > kMostActors;
  if (stage.done > 0 && nothing) {
    stage.done = 0;
    stage.working_seconds = 0;
  }
  stage.done_seconds_squared = std::min(stage.done_seconds_squared, served * served);
}

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

// E[max(0, Z - x)] of a standard normal Z.
double normal_loss(double x) {
  const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
  return density - x * 0.5 * std::erfc(x / std::numbers::sqrt2);
}

// Share of a rate limit that is missed because no actor is free at the moment of a start: the
// number of busy actors varies around the number that the limit needs (the variance of D/G/∞ for
// these noises).
double limit_loss(double actors, double needed, double noise) {
  const double deviation = std::sqrt(needed * kLimitVariance * noise) + 1e-6;
  return deviation / needed * normal_loss((actors - needed) / deviation);
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

Observation plausible(const PipelineDescription& description, Observation seen) {
  mend({&seen.at_seconds, &seen.seconds, &seen.limits.cpus, &seen.splits_per_item,
        &seen.trainer_step_seconds, &seen.trainer_wait_seconds, &seen.other_cpu_seconds,
        &seen.prefetch_fill});
  if (seen.seconds < kLeast) seen.seconds = 0;
  if (seen.trainer_step_seconds < kLeast) seen.trainer_steps = 0;
  seen.limits.cpus = seen.limits.cpus > 0 ? std::min(seen.limits.cpus, kMostCpus) : 1;
  seen.limits.memory_bytes = std::max<std::uint64_t>(1, seen.limits.memory_bytes);
  seen.trainer_steps = std::min(seen.trainer_steps, kMostSplits);
  seen.prefetch = std::max(1U, seen.prefetch);
  seen.stages.resize(description.stages.size());
  for (StageObservation& stage : seen.stages) mend(stage);
  return seen;
}

double expected_rate(std::span<const StageCost> costs, std::span<const double> noise,
                     std::span<const std::uint32_t> actors, const RateConditions& given) {
  const double steady = steady_rate(costs, actors, given.cpus, given.trainer_rate);
  return less_losses(steady, costs, noise, actors, given);
}

double less_losses(double steady, std::span<const StageCost> costs, std::span<const double> noise,
                   std::span<const std::uint32_t> actors, const RateConditions& given) {
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
