#include "tuner/policy/adaptive.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tuner/allocation.h"
#include "tuner/plan/plan.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

// Weight of older intervals; the last interval counts for two thirds.
constexpr double kKept = 0.3;
constexpr double kSame = 1e-9;

// The allocation with an actor more in each of the slowest stages.
Allocation grown(const std::vector<StageCost>& costs, Allocation allocation) {
  double slowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    slowest = std::min(slowest, costs[i].rate(allocation.actors[i]));
  }
  for (std::size_t i = 0; i < costs.size(); ++i) {
    if (costs[i].rate(allocation.actors[i]) <= slowest * (1 + kSame)) ++allocation.actors[i];
  }
  return allocation;
}

// Weight of older intervals; Plumber itself traces for a minute.
constexpr double kPlumberKept = 0.8;
constexpr double kSameRate = 1e-9;
constexpr double kMost = 1e6;  // Upper bound of actors.

// max min R_i theta_i with sum theta_i <= cpus and theta_i <= bound_i: every theta_i is rate / R_i,
// so either the CPUs or the tightest bound limit the rate. Infinite if no stage uses a CPU.
double best_rate(const PipelineDescription& description, const Measured& measured, double cpus) {
  double cpu_seconds = 0;
  double bound = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    const double cpu = measured.cpu(i);
    cpu_seconds += cpu;
    if (cpu <= 0) continue;
    bound = std::min(bound, std::min<double>(cpus, description.stages[i].max_actors) / cpu);
  }
  return cpu_seconds > 0 ? std::min(bound, cpus / cpu_seconds) : bound;
}

// The first stage reads: it needs as many actors as keep that rate in flight, including its waits
// for disk or network. For all other stages only CPU time counts.
std::uint32_t parallelism(const Measured& measured, std::size_t stage, double rate) {
  const double seconds = stage == 0 ? measured.service(stage) : measured.cpu(stage);
  const double actors = std::ceil(rate * seconds * (1 - kSameRate));
  return actors > 1 ? static_cast<std::uint32_t>(std::min(actors, kMost)) : 1;
}

constexpr double kUp = 0.8;
constexpr double kDown = 0.5;
constexpr double kReserved = 0.5;

// Share of its actors' time that a stage worked; NaN if it had no actor time.
double utilisation(const StageObservation& stage) {
  return std::min(1.0, stage.working_seconds / stage.actor_seconds);
}

// How many more actors a stage requests.
std::uint32_t requested(const Observation& seen, std::size_t i, std::uint32_t actors) {
  const double busy = utilisation(seen.stages[i]);
  const bool queued = i == 0 || seen.stages[i - 1].queue_fill > 0;
  if (!(busy > kUp) || !queued) return 0;
  return std::max(1U, static_cast<std::uint32_t>(std::ceil(actors * (busy / kUp - 1))));
}

// How many more actors the stage may have: CPUs that no other stage holds or has reserved.
std::uint32_t room_for(const PipelineDescription& description, const Allocation& next,
                       std::size_t stage, double cpus) {
  const double reserved = kReserved * cpus / static_cast<double>(next.actors.size());
  double free = cpus;
  for (std::size_t i = 0; i < next.actors.size(); ++i) {
    free -= i == stage ? next.actors[i] : std::max<double>(reserved, next.actors[i]);
  }
  const std::uint32_t most = std::max(1U, description.stages[stage].max_actors);
  const std::uint32_t own = most - std::min(most, next.actors[stage]);
  return free >= 1 ? std::min(own, static_cast<std::uint32_t>(free)) : 0;
}

}  // namespace

Plan greedy_allocation(const PipelineDescription& description, const std::vector<StageCost>& costs,
                       const PlanLimits& limits) {
  const Bounds bounds{.actors = description.max_actors, .bytes = limits.limits.memory_bytes};
  const auto rate_of = [&](const Allocation& allocation) {
    return steady_rate(costs, allocation.actors, limits.limits.cpus, limits.trainer_rate);
  };
  const auto allowed = [&](const Allocation& allocation) {
    return allocation == shaped(description, allocation) && within(description, allocation, bounds);
  };
  Allocation best = one_each(description);
  best.prefetch = 1;
  double rate = rate_of(best);
  for (Allocation next = grown(costs, best); allowed(next) && rate_of(next) > rate * (1 + kSame);
       next = grown(costs, best)) {
    rate = rate_of(next);
    best = std::move(next);
  }
  best.prefetch = description.default_prefetch;
  return {fitted(description, shaped(description, best), bounds), rate};
}

Decide make_greedy(const PolicyContext& context) {
  return [description = context.description,
          measured = Measured(context.description.stages.size(), kKept)](
             const Observation& seen) mutable -> Proposal {
    measured.add(seen);
    if (!measured.any_seen()) {
      return {.allocation = current_allocation_of(description, seen),
              .reason = "nothing measured yet"};
    }
    const Limits limits{cpus_of(seen.limits), seen.limits.memory_bytes};
    Plan plan = greedy_allocation(description, measured.costs(),
                                  {.limits = limits, .trainer_rate = measured.trainer_rate()});
    return {.allocation = std::move(plan.allocation),
            .expected_splits_per_second = plan.splits_per_second,
            .reason = "the slowest stage next, from measured rates"};
  };
}

Decide make_plumber(const PolicyContext& context) {
  return [description = context.description,
          measured = Measured(context.description.stages.size(), kPlumberKept)](
             const Observation& seen) mutable -> Proposal {
    measured.add(seen);
    if (!measured.any_seen()) {
      return {.allocation = current_allocation_of(description, seen),
              .reason = "nothing traced yet"};
    }
    const double rate = best_rate(description, measured, cpus_of(seen.limits));
    Allocation plan = one_each(description);
    for (std::size_t i = 0; i < plan.actors.size(); ++i) {
      plan.actors[i] = parallelism(measured, i, rate);
    }
    return {.allocation = shaped(description, plan),
            .expected_splits_per_second = std::isfinite(rate) ? rate : 0,
            .reason = "the linear program from measured CPU time"};
  };
}

Decide make_threshold(const PolicyContext& context) {
  return [description = context.description](const Observation& seen) {
    Allocation next = current_allocation_of(description, seen);
    const std::size_t stages = std::min(next.actors.size(), seen.stages.size());
    for (std::size_t i = 0; i < stages; ++i) {
      if (utilisation(seen.stages[i]) < kDown && next.actors[i] > 1) --next.actors[i];
    }
    for (std::size_t i = stages; i-- > 0;) {
      next.actors[i] += std::min(requested(seen, i, next.actors[i]),
                                 room_for(description, next, i, cpus_of(seen.limits)));
    }
    next.prefetch = std::max(1U, description.default_prefetch);
    return Proposal{.allocation = next, .reason = "up above 0.8 busy, down below 0.5"};
  };
}

}  // namespace forebay::tuner
