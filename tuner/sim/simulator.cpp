#include "tuner/sim/simulator.h"

#include "tuner/sim/simulator_state.h"

namespace forebay::tuner {

Simulator::Simulator(const PipelineModel& model, std::uint64_t seed)
    : state_(std::make_unique<State>(model, seed)) {}

Simulator::Simulator(const Simulator& other)
    : TunedPipeline(other), state_(std::make_unique<State>(*other.state_)) {}

Simulator::~Simulator() = default;

void Simulator::run_until(double seconds) { state_->run_until(seconds); }

const PipelineDescription& Simulator::description() const { return state_->description; }

void Simulator::apply(const Allocation& allocation) {
  if (!state_->memory.exceeded()) state_->apply(allocation);
}

double Simulator::now() const { return state_->now; }

bool Simulator::out_of_memory() const { return state_->memory.exceeded(); }

CurrentState Simulator::current() const {
  const State& state = *state_;
  CurrentState current;
  current.limits = {.cpus = state.limits_cpus, .memory_bytes = state.memory.limit()};
  for (const StageState& stage : state.stages) {
    current.actors.push_back(stage.staying());
    current.leaving.push_back(stage.leaving);
  }
  current.prefetch = state.stages.back().capacity;
  current.prefetched = state.stages.back().queued;
  current.memory_bytes = state.memory.used();
  return current;
}

Observation Simulator::observe() {
  State& state = *state_;
  Observation seen;
  seen.at_seconds = state.now;
  seen.seconds = state.at;
  seen.limits = {.cpus = state.limits_cpus, .memory_bytes = state.memory.limit()};
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const double clock = state.cpus.clock(i, state.now);
    seen.stages.push_back(state.stages[i].observation(state.at, clock));
    state.cpu_before += seen.stages.back().cpu_seconds;
    state.stages[i].restart(clock);
  }
  seen.trainer_steps = state.trainer.steps;
  seen.trainer_step_seconds = state.trainer.worked;
  seen.trainer_wait_seconds = state.trainer.waiting_time.until(state.at, state.trainer.waiting);
  seen.prefetch = state.stages.back().capacity;
  seen.prefetch_fill = seen.stages.back().queue_fill;
  seen.prefetch_full = state.trainer.became_full;
  seen.prefetch_empty = state.trainer.found_empty;
  seen.memory_bytes = state.memory.used();
  seen.memory_peak = state.memory.peak();
  state.wait_before += seen.trainer_wait_seconds;
  state.trainer.restart();
  state.memory.restart_peak();
  state.interval_start = state.now;
  state.at = 0;
  return seen;
}

SimTotals Simulator::totals() const {
  const State& state = *state_;
  SimTotals totals;
  totals.seconds = state.now;
  totals.trained = state.trained;
  totals.steps = state.steps;
  totals.trainer_wait_seconds =
      state.wait_before + state.trainer.waiting_time.until(state.at, state.trainer.waiting);
  totals.cpu_seconds = state.cpu_before;
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    totals.cpu_seconds += state.stages[i].cpu_seconds(state.cpus.clock(i, state.now));
  }
  totals.memory_peak = state.memory.peak_ever();
  return totals;
}

}  // namespace forebay::tuner
