#include "tuner/model/plausible.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

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

}  // namespace forebay::tuner
