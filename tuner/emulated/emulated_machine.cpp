#include "tuner/emulated/emulated_machine.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/pipeline_accounting.h"

namespace forebay::tuner {
namespace {}  // namespace

struct EmulatedMachine::State {
  State(const PipelineModel& described, std::uint64_t seed, const Clock& clock)
      : model(described),
        description(description_of(model)),
        accounting(model),
        totals_before(model.stages.size() + 1),
        cpu_before(model.stages.size(), 0.0),
        thread(model, seed, clock),
        pipeline({.model = model,
                  .machine = thread,
                  .clock = clock,
                  .on_move = [this] { look(); },
                  .on_empty = [this] { note_empty(); }}) {
    pipeline.apply(one_each(description));
    look();
  }

  ~State() {
    pipeline.cancel();
    thread.stop();
    pipeline.wait_until_gone();
  }

  /// Records the current contents of the pools in the accounting.
  void look() {
    serial([this] { look_now(); });
  }

  void look_now() {
    if (out_of_memory) return;
    accounting.note(thread.now(), pipeline.census(), thread.limits().memory_bytes);
    if (!accounting.out_of_memory()) return;
    out_of_memory = true;
    thread.freeze();
  }

  void note_empty() {
    serial([this] { accounting.note_empty(); });
  }

  StageObservation observe_stage(std::size_t stage, double cpu_seconds);
  void observe_trainer(Observation& seen);

  const PipelineModel model;
  const PipelineDescription description;
  Synchronized<> serial;
  PipelineAccounting accounting;  // under the lock
  std::atomic<bool> out_of_memory{false};
  std::vector<ActorTotals> totals_before;  // tuner's thread only, as all below; the trainer's last
  std::vector<double> cpu_before;
  double observed_at = 0;
  MachineThread thread;
  EmulatedPipeline pipeline;
};

EmulatedMachine::EmulatedMachine(const PipelineModel& model, std::uint64_t seed, const Clock& clock)
    : state_(std::make_unique<State>(model, seed, clock)) {}

EmulatedMachine::~EmulatedMachine() = default;

void EmulatedMachine::run_until(double seconds, const std::function<bool()>& stopped) {
  while (!stopped() && !out_of_memory()) {
    state_->look();  // A lower limit may have come into force.
    const double left = seconds - now();
    if (left <= 0) return;
    state_->thread.wait_until(now() + std::min(left, 0.1));
  }
}

const PipelineDescription& EmulatedMachine::description() const { return state_->description; }

CurrentState EmulatedMachine::current() const {
  State& state = *state_;
  state.look();
  const Census census = state.pipeline.census();
  return {.limits = state.thread.limits(),
          .actors = state.pipeline.asked(),
          .leaving = census.leaving,
          .prefetch = census.prefetch,
          .prefetched = census.queued.back(),
          .memory_bytes = state.serial([&] { return state.accounting.memory_bytes(); }),
          .resident_bytes = 0};
}

Observation EmulatedMachine::observe() {
  State& state = *state_;
  state.look();
  Observation seen;
  const std::vector<double> cpu_seconds = state.thread.cpu_seconds();
  for (std::size_t i = 0; i < state.description.stages.size(); ++i) {
    seen.stages.push_back(state.observe_stage(i, cpu_seconds[i]));
  }
  state.observe_trainer(seen);
  seen.limits = state.thread.limits();
  seen.at_seconds = state.thread.now();
  const PipelineAccounting::Interval interval = state.serial([&] {
    state.look_now();
    seen.memory_bytes = state.accounting.memory_bytes();
    return state.accounting.take();
  });
  seen.seconds = interval.seconds;
  for (std::size_t i = 0; i < seen.stages.size(); ++i) {
    seen.stages[i].queue_fill = interval.queue_fill[i];
  }
  seen.prefetch_fill = interval.queue_fill.back();
  seen.prefetch_full = interval.prefetch_full;
  seen.prefetch_empty = interval.prefetch_empty;
  seen.memory_peak = interval.memory_peak;
  return seen;
}

StageObservation EmulatedMachine::State::observe_stage(std::size_t stage, double cpu_seconds) {
  const ActorTotals now = pipeline.totals(stage);
  const ActorTotals before = std::exchange(totals_before[stage], now);
  StageObservation seen = pipeline.take_sums(stage);
  seen.working_seconds = in_seconds(now.busy - before.busy);
  seen.input_wait_seconds = in_seconds(now.wait_input - before.wait_input);
  seen.output_wait_seconds = in_seconds(now.wait_output - before.wait_output);
  seen.actor_seconds = seen.working_seconds + seen.input_wait_seconds + seen.output_wait_seconds;
  seen.cpu_seconds = cpu_seconds - std::exchange(cpu_before[stage], cpu_seconds);
  return seen;
}

void EmulatedMachine::State::observe_trainer(Observation& seen) {
  const std::size_t trainer = description.stages.size();
  const ActorTotals now = pipeline.totals(trainer);
  const ActorTotals before = std::exchange(totals_before[trainer], now);
  const StageObservation steps = pipeline.take_sums(trainer);
  seen.trainer_steps = steps.done;
  seen.trainer_step_seconds = steps.done_seconds;
  seen.trainer_wait_seconds = in_seconds(now.wait_input - before.wait_input);
  const Census census = pipeline.census();
  const std::vector<std::uint32_t> asked = pipeline.asked();
  for (std::size_t i = 0; i < trainer; ++i) {
    seen.stages[i].actors = asked[i];
    seen.stages[i].leaving = census.leaving[i];
    seen.stages[i].queued_bytes = census.queued[i] * model.stages[i].bytes_out;
  }
  seen.prefetch = census.prefetch;
}

void EmulatedMachine::apply(const Allocation& allocation) {
  if (out_of_memory()) return;
  state_->pipeline.apply(allocation);
  state_->look();
}

double EmulatedMachine::now() const { return state_->thread.now(); }

bool EmulatedMachine::out_of_memory() const { return state_->out_of_memory; }

SimTotals EmulatedMachine::totals() const {
  State& state = *state_;
  const std::size_t trainer = state.description.stages.size();
  SimTotals totals;
  for (const double used : state.thread.cpu_seconds()) totals.cpu_seconds += used;
  for (std::size_t i = 0; i < trainer; ++i) totals.steps += state.pipeline.totals(i).messages;
  const ActorTotals trainer_totals = state.pipeline.totals(trainer);
  totals.seconds = state.thread.now();
  totals.trained = trainer_totals.messages;
  totals.trainer_wait_seconds = in_seconds(trainer_totals.wait_input);
  totals.memory_peak = state.serial([&] { return state.accounting.memory_peak(); });
  return totals;
}

PipelineModel EmulatedMachine::model() const { return state_->thread.model(); }

Lateness EmulatedMachine::lateness() const { return state_->thread.lateness(); }

std::optional<Error> EmulatedMachine::failure() const { return state_->pipeline.failure(); }

}  // namespace forebay::tuner
