#include "engine/modelled/observation_sum.h"

#include <algorithm>

namespace forebay {
namespace {

using tuner::Observation;
using tuner::StageObservation;

/// Joins `sum` and the interval after it; `weight` is the share of `next` in the time of both.
StageObservation joined(const StageObservation& sum, const StageObservation& next, double weight) {
  StageObservation both = next;
  both.actor_seconds += sum.actor_seconds;
  both.working_seconds += sum.working_seconds;
  both.input_wait_seconds += sum.input_wait_seconds;
  both.output_wait_seconds += sum.output_wait_seconds;
  both.cpu_seconds += sum.cpu_seconds;
  both.done += sum.done;
  both.done_seconds += sum.done_seconds;
  both.done_seconds_squared += sum.done_seconds_squared;
  both.done_cpu_seconds += sum.done_cpu_seconds;
  both.done_ready_seconds += sum.done_ready_seconds;
  both.done_actors += sum.done_actors;
  both.queue_fill = weight * next.queue_fill + (1 - weight) * sum.queue_fill;
  return both;
}

Observation joined(const Observation& sum, const Observation& next) {
  Observation both = next;
  both.seconds += sum.seconds;
  const double weight = both.seconds > 0 ? next.seconds / both.seconds : 1;
  for (std::size_t i = 0; i < both.stages.size(); ++i) {
    both.stages[i] = joined(sum.stages[i], next.stages[i], weight);
  }
  both.trainer_steps += sum.trainer_steps;
  both.trainer_step_seconds += sum.trainer_step_seconds;
  both.trainer_wait_seconds += sum.trainer_wait_seconds;
  both.other_cpu_seconds += sum.other_cpu_seconds;
  both.prefetch_fill = weight * next.prefetch_fill + (1 - weight) * sum.prefetch_fill;
  both.prefetch_full += sum.prefetch_full;
  both.prefetch_empty += sum.prefetch_empty;
  both.memory_peak = std::max(next.memory_peak, sum.memory_peak);
  return both;
}

}  // namespace

Observation sum_of(std::span<const Observation> intervals) {
  Observation sum = intervals.front();
  for (const Observation& next : intervals.subspan(1)) sum = joined(sum, next);
  return sum;
}

}  // namespace forebay
