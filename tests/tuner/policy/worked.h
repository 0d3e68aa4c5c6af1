#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tuner/plan/plan.h"
#include "tuner/policy/policies.h"

namespace forebay::tuner {

inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A description with a stage for each cost, ample memory and a prefetch of 16.
inline PolicyContext context_of(std::span<const StageCost> costs, double cpus,
                                std::uint64_t memory_bytes = 1024 * kGiB) {
  PolicyContext context;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    context.description.stages.push_back({"s" + std::to_string(i), 128, kGiB / 4});
  }
  context.description.max_prefetch = 1024;
  context.description.default_prefetch = 16;
  context.description.prefetch_item_bytes = kGiB / 64;
  context.limits = {cpus, memory_bytes};
  return context;
}

/// The observation of an interval of two seconds without noise and without a lack of CPUs: every
/// stage completed 100 splits with the actors of `current`, the trainer took one every
/// `step_seconds`.
inline Observation exact(std::span<const StageCost> costs, const Allocation& current,
                         const Limits& limits, double step_seconds) {
  Observation seen;
  seen.seconds = 2;
  seen.limits = limits;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    const double actors = current.actors[i];
    const double service = costs[i].seconds_with(actors);
    StageObservation stage;
    stage.actors = current.actors[i];
    stage.actor_seconds = 2 * actors;
    stage.done = 100;
    stage.done_seconds = 100 * service;
    stage.done_seconds_squared = 100 * service * service;
    stage.done_cpu_seconds = 100 * service * costs[i].cpu;
    stage.working_seconds = std::min(stage.actor_seconds, stage.done_seconds);
    stage.queue_fill = 0.5;
    seen.stages.push_back(stage);
  }
  seen.trainer_steps = 100;
  seen.trainer_step_seconds = 100 * step_seconds;
  seen.prefetch = current.prefetch;
  return seen;
}

/// The policy's answer to the first such interval, one actor a stage.
inline Allocation first_answer(std::string_view name, const PolicyContext& context,
                               std::span<const StageCost> costs, double step_seconds) {
  const auto policy = make_policy(name, context).value();
  return policy->decide(exact(costs, one_each(context.description), context.limits, step_seconds))
      .allocation;
}

}  // namespace forebay::tuner
