#include "tuner/emulated/emulated_machine.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/world/world_layout.h"

namespace forebay::tuner {

EmulatedMachine::EmulatedMachine(const PipelineModel& model, std::uint64_t seed, const Clock& clock,
                                 std::function<bool()> stopped,
                                 const std::optional<Allocation>& first)
    : model_(model),
      description_(description_of(model)),
      stopped_(std::move(stopped)),
      thread_(model, seed, clock),
      observer_(model, thread_, pipeline_),
      pipeline_({.model = model_,
                 .machine = thread_,
                 .clock = clock,
                 .on_move = [this] { observer_.look(); },
                 .on_empty = [this] { observer_.note_empty(); }}) {
  pipeline_.apply(first ? *first : one_each(description_));
  observer_.look();
}

EmulatedMachine::~EmulatedMachine() {
  pipeline_.cancel();
  thread_.stop();
  pipeline_.wait_until_gone();
}

void EmulatedMachine::run_until(double seconds) {
  while (!stopped_() && !out_of_memory()) {
    observer_.look();  // A lower limit may have come into force.
    const double left = seconds - now();
    if (left <= 0) return;
    thread_.wait_until(now() + std::min(left, 0.1));
  }
}

Observation EmulatedMachine::observe() {
  Observation seen = observer_.observe();
  const double paused = paused_between(model_, seen.at_seconds - seen.seconds, seen.at_seconds);
  seen.seconds = std::max(0.0, seen.seconds - paused);
  const std::size_t trainer = description_.stages.size();
  const ActorTotals now = pipeline_.totals(trainer);
  const ActorTotals before = std::exchange(trainer_before_, now);
  const StageObservation steps = pipeline_.take_sums(trainer);
  seen.trainer_steps = steps.done;
  seen.trainer_step_seconds = steps.done_seconds;
  seen.trainer_wait_seconds = in_seconds(now.wait_input - before.wait_input);
  return seen;
}

void EmulatedMachine::apply(const Allocation& allocation) {
  if (out_of_memory()) return;
  pipeline_.apply(allocation);
  observer_.look();
}

SimTotals EmulatedMachine::totals() const {
  const std::size_t trainer = description_.stages.size();
  SimTotals totals;
  for (const double used : thread_.cpu_seconds()) totals.cpu_seconds += used;
  for (std::size_t i = 0; i < trainer; ++i) totals.steps += pipeline_.totals(i).messages;
  const ActorTotals trainer_totals = pipeline_.totals(trainer);
  totals.seconds = thread_.now();
  totals.trained = pipeline_.trained();
  totals.trainer_wait_seconds = in_seconds(trainer_totals.wait_input);
  totals.memory_peak = observer_.memory_peak();
  totals.out_of_memory = out_of_memory();
  return totals;
}

}  // namespace forebay::tuner
