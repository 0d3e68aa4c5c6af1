#include "tuner/emulated/pipeline_observer.h"

#include <algorithm>
#include <utility>

#include "core/base/clock.h"

namespace forebay::tuner {

PipelineObserver::PipelineObserver(const PipelineModel& model, MachineThread& machine,
                                   EmulatedPipeline& pipeline, std::size_t node)
    : model_(model),
      machine_(machine),
      pipeline_(pipeline),
      node_(node),
      accounting_(model, machine.now()),
      totals_before_(model.stages.size()) {
  const std::vector<double> used = machine.cpu_seconds();
  const std::size_t stages = model.stages.size();
  for (std::size_t i = 0; i < stages; ++i) cpu_before_.push_back(used[node * stages + i]);
}

void PipelineObserver::look() {
  serial_([this] { look_locked(); });
}

void PipelineObserver::look_locked() {
  if (out_of_memory_) return;
  accounting_.note(machine_.now(), pipeline_.census(), machine_.limits(node_).memory_bytes);
  if (!accounting_.out_of_memory()) return;
  out_of_memory_ = true;
  machine_.freeze();
}

CurrentState PipelineObserver::current() {
  look();
  const Census census = pipeline_.census();
  return {.limits = machine_.limits(node_),
          .actors = census.asked,
          .leaving = census.leaving,
          .prefetch = census.prefetch,
          .prefetched = std::max(census.queued.back(), census.started),
          .memory_bytes = serial_([&] { return accounting_.memory_bytes(); }),
          .resident_bytes = 0};
}

Observation PipelineObserver::observe() {
  look();
  Observation seen;
  const std::vector<double> cpu_seconds = machine_.cpu_seconds();
  const std::size_t stages = model_.stages.size();
  for (std::size_t i = 0; i < stages; ++i) {
    seen.stages.push_back(observe_stage(i, cpu_seconds[node_ * stages + i]));
  }
  const Census census = pipeline_.census();
  for (std::size_t i = 0; i < stages; ++i) {
    seen.stages[i].actors = census.asked[i];
    seen.stages[i].leaving = census.leaving[i];
    seen.stages[i].queued_bytes = census.queued[i] * model_.stages[i].bytes_out;
  }
  seen.prefetch = census.prefetch;
  seen.limits = machine_.limits(node_);
  seen.at_seconds = machine_.now();
  const PipelineAccounting::Interval interval = serial_([&] {
    look_locked();
    seen.memory_bytes = accounting_.memory_bytes();
    return accounting_.take();
  });
  seen.seconds = interval.seconds;
  for (std::size_t i = 0; i < stages; ++i) seen.stages[i].queue_fill = interval.queue_fill[i];
  seen.prefetch_fill = interval.queue_fill.back();
  seen.prefetch_full = interval.prefetch_full;
  seen.prefetch_empty = interval.prefetch_empty;
  seen.memory_peak = interval.memory_peak;
  return seen;
}

StageObservation PipelineObserver::observe_stage(std::size_t stage, double cpu_seconds) {
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

}  // namespace forebay::tuner
