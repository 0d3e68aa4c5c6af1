#pragma once

#include <algorithm>
#include <span>

#include "tuner/allocation.h"

namespace forebay::tuner {

/// The cost of a stage, known or estimated: the universal scalability law (Gunther 1993) plus
/// waiting.
struct StageCost {
  double seconds = 0;   ///< One actor alone, per split.
  double cpu = 1;       ///< Share of that time on a CPU.
  double alpha = 0;     ///< Contention.
  double beta = 0;      ///< Coherency.
  double max_rate = 0;  ///< The most splits/s; 0: no limit.

  /// The factor by which n actors of the stage slow each other down; 1 for one actor.
  double slow(double n) const { return 1 + alpha * (n - 1) + beta * n * (n - 1); }
  /// The seconds of a split with n actors, if each gets a CPU at once.
  double seconds_with(double n) const { return seconds * slow(n); }
  /// The most splits/s that n actors complete if every actor gets a CPU at once.
  double rate(double n) const {
    const double free = n / seconds_with(n);
    return max_rate > 0 ? std::min(max_rate, free) : free;
  }
};

/// The machine's limit: splits/s that `cpus` CPUs complete with these actors.
double machine_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                    double cpus);

/// Noise-free steady throughput in splits/s: the least of the trainer's, every stage's and the
/// machine's. `trainer_rate` 0: no trainer.
double steady_rate(std::span<const StageCost> costs, std::span<const std::uint32_t> actors,
                   double cpus, double trainer_rate);

/// The bounds and the target of a plan.
struct PlanLimits {
  Limits limits;
  double trainer_rate = 0;     ///< Splits/s the trainer takes; 0: unlimited.
  std::uint32_t prefetch = 1;  ///< Items for which the plan must leave memory.
  double precision = 1e-9;     ///< Of the rate, relative.
};

struct Plan {
  Allocation allocation = {};
  double splits_per_second = 0;
};

/// The legal allocation with the largest noise-free steady throughput, and among those (within a
/// relative 1e-9) the one with the fewest actors: with exact costs, the oracle.
///
/// Gives each stage the fewest actors that reach a rate. These numbers grow with the rate, and so
/// do memory and contention, so the feasible rates are an interval and bisection finds its end.
Plan best_allocation(const PipelineDescription& description, std::span<const StageCost> costs,
                     const PlanLimits& limits);

/// Numbers of actors of one stage for many rates, at most `max_actors`. Pure; a value.
class ActorsForRate {
 public:
  ActorsForRate(const StageCost& cost, std::uint32_t max_actors);

  /// The number at which the stage is fastest.
  std::uint32_t fastest() const { return fastest_; }
  /// The fewest that complete `rate` splits/s; 0 if no number of actors does.
  std::uint32_t fewest(double rate) const;

 private:
  StageCost cost_;
  std::uint32_t fastest_;
  double most_;  // splits/s, of the fastest number
};

}  // namespace forebay::tuner
