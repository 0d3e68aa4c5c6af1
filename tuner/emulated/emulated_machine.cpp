#include "tuner/emulated/emulated_machine.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/virtual_machine.h"
#include "tuner/world/world_layout.h"

namespace forebay::tuner {

EmulatedMachine::EmulatedMachine(const PipelineModel& model, std::uint64_t seed, const Clock& clock,
                                 std::function<bool()> stopped)
    : model_(model),
      description_(description_of(model)),
      stopped_(std::move(stopped)),
      accounting_(model),
      totals_before_(model.stages.size() + 1),
      cpu_before_(model.stages.size(), 0.0),
      thread_(model, seed, clock),
      pipeline_({.model = model_,
                 .machine = thread_,
                 .clock = clock,
                 .on_move = [this] { look(); },
                 .on_empty = [this] { serial_([this] { accounting_.note_empty(); }); }}) {
  pipeline_.apply(one_each(description_));
  look();
}

EmulatedMachine::~EmulatedMachine() {
  pipeline_.cancel();
  thread_.stop();
  pipeline_.wait_until_gone();
}

void EmulatedMachine::look() const {
  serial_([this] { look_locked(); });
}

void EmulatedMachine::look_locked() const {
  if (out_of_memory_) return;
  accounting_.note(thread_.now(), pipeline_.census(), thread_.limits().memory_bytes);
  if (!accounting_.out_of_memory()) return;
  out_of_memory_ = true;
  thread_.freeze();
}

void EmulatedMachine::run_until(double seconds) {
  while (!stopped_() && !out_of_memory()) {
    look();  // A lower limit may have come into force.
    const double left = seconds - now();
    if (left <= 0) return;
    thread_.wait_until(now() + std::min(left, 0.1));
  }
}

CurrentState EmulatedMachine::current() const {
  look();
  const Census census = pipeline_.census();
  return {.limits = thread_.limits(),
          .actors = census.asked,
          .leaving = census.leaving,
          .prefetch = census.prefetch,
          .prefetched = census.queued.back(),
          .memory_bytes = serial_([&] { return accounting_.memory_bytes(); }),
          .resident_bytes = 0};
}

Observation EmulatedMachine::observe() {
  look();
  Observation seen;
  const std::vector<double> cpu_seconds = thread_.cpu_seconds();
  for (std::size_t i = 0; i < description_.stages.size(); ++i) {
    seen.stages.push_back(observe_stage(i, cpu_seconds[i]));
  }
  observe_trainer(seen);
  seen.limits = thread_.limits();
  seen.at_seconds = thread_.now();
  const PipelineAccounting::Interval interval = serial_([&] {
    look_locked();
    seen.memory_bytes = accounting_.memory_bytes();
    return accounting_.take();
  });
  const double paused = paused_between(model_, seen.at_seconds - interval.seconds, seen.at_seconds);
  seen.seconds = std::max(0.0, interval.seconds - paused);
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    seen.stages[i].queue_fill = interval.queue_fill[i];
  }
  seen.prefetch_fill = interval.queue_fill.back();
  seen.prefetch_full = interval.prefetch_full;
  seen.prefetch_empty = interval.prefetch_empty;
  seen.memory_peak = interval.memory_peak;
  return seen;
}

StageObservation EmulatedMachine::observe_stage(std::size_t stage, double cpu_seconds) {
  const ActorTotals now = pipeline_.totals(stage);
  const ActorTotals before = std::exchange(totals_before_[stage], now);
  StageObservation seen = pipeline_.take_sums(stage);
  seen.working_seconds = in_seconds(now.busy - before.busy);
  seen.input_wait_seconds = in_seconds(now.wait_input - before.wait_input);
  seen.output_wait_seconds = in_seconds(now.wait_output - before.wait_output);
  seen.actor_seconds = seen.working_seconds + seen.input_wait_seconds + seen.output_wait_seconds;
  seen.cpu_seconds = cpu_seconds - std::exchange(cpu_before_[stage], cpu_seconds);
  return seen;
}

void EmulatedMachine::observe_trainer(Observation& seen) {
  const std::size_t trainer = description_.stages.size();
  const ActorTotals now = pipeline_.totals(trainer);
  const ActorTotals before = std::exchange(totals_before_[trainer], now);
  const StageObservation steps = pipeline_.take_sums(trainer);
  seen.trainer_steps = steps.done;
  seen.trainer_step_seconds = steps.done_seconds;
  seen.trainer_wait_seconds = in_seconds(now.wait_input - before.wait_input);
  const Census census = pipeline_.census();
  for (std::size_t i = 0; i < trainer; ++i) {
    seen.stages[i].actors = census.asked[i];
    seen.stages[i].leaving = census.leaving[i];
    seen.stages[i].queued_bytes = census.queued[i] * model_.stages[i].bytes_out;
  }
  seen.prefetch = census.prefetch;
}

void EmulatedMachine::apply(const Allocation& allocation) {
  if (out_of_memory()) return;
  pipeline_.apply(allocation);
  look();
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
  totals.memory_peak = serial_([&] { return accounting_.memory_peak(); });
  totals.out_of_memory = out_of_memory();
  return totals;
}

}  // namespace forebay::tuner
