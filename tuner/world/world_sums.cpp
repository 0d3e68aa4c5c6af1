#include "tuner/world/world_sums.h"

namespace forebay::tuner {
namespace {

void add(const Limits& part, Limits& whole) {
  whole.cpus += part.cpus;
  whole.memory_bytes += part.memory_bytes;
}

}  // namespace

void add_node(const CurrentState& part, bool has_trainer, CurrentState& whole) {
  whole.actors.insert(whole.actors.end(), part.actors.begin(), part.actors.end());
  whole.leaving.insert(whole.leaving.end(), part.leaving.begin(), part.leaving.end());
  add(part.limits, whole.limits);
  whole.memory_bytes += part.memory_bytes;
  if (!has_trainer) return;
  whole.prefetch = part.prefetch;
  whole.prefetched = part.prefetched;
}

void add_node(const Observation& part, bool has_trainer, Observation& whole) {
  whole.stages.insert(whole.stages.end(), part.stages.begin(), part.stages.end());
  add(part.limits, whole.limits);
  whole.memory_bytes += part.memory_bytes;
  whole.memory_peak += part.memory_peak;
  whole.trainer_steps += part.trainer_steps;
  if (!has_trainer) return;
  whole.at_seconds = part.at_seconds;
  whole.seconds = part.seconds;
  whole.trainer_step_seconds = part.trainer_step_seconds;
  whole.trainer_wait_seconds = part.trainer_wait_seconds;
  whole.prefetch = part.prefetch;
  whole.prefetch_fill = part.prefetch_fill;
}

double blocked_share(const Observation& node) {
  const StageObservation& last = node.stages.back();
  return last.actor_seconds > 0 ? last.output_wait_seconds / last.actor_seconds : 0;
}

}  // namespace forebay::tuner
