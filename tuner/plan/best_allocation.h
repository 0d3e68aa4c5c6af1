#pragma once

#include <span>

#include "tuner/allocation.h"
#include "tuner/plan/cost.h"

namespace forebay::tuner {

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

/// The fewest actors of a stage that complete `rate` splits/s; 0 if no number of actors does.
std::uint32_t fewest_actors(const StageCost& cost, double rate, std::uint32_t max_actors);

/// The number of actors, at most `max_actors`, at which a stage is fastest.
std::uint32_t fastest_actors(const StageCost& cost, std::uint32_t max_actors);

}  // namespace forebay::tuner
