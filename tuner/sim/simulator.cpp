#include "tuner/sim/simulator.h"

#include <utility>

namespace forebay::tuner {

MachineMaker simulated_machines() {
  return [](const PipelineModel& model, std::uint64_t seed) {
    return std::make_unique<Simulator>(model, seed);
  };
}

void Simulator::apply(const Allocation& allocation) {
  if (!out_of_memory()) resize(allocation);
}

CurrentState Simulator::current() const {
  CurrentState current;
  current.limits = limits();
  for (const StageState& stage : stages_) {
    current.actors.push_back(stage.staying());
    current.leaving.push_back(stage.leaving);
  }
  current.prefetch = last().capacity;
  current.prefetched = last().queued;
  current.memory_bytes = memory_.used();
  return current;
}

Observation Simulator::observe() {
  Observation seen = std::exchange(sums_, {});
  seen.at_seconds = now_;
  seen.seconds = at_;
  seen.limits = limits();
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const double clock = cpus_.clock(i, now_);
    seen.stages.push_back(stages_[i].observation(at_, clock));
    cpu_before_ += seen.stages.back().cpu_seconds;
    stages_[i].restart(clock);
  }
  seen.trainer_wait_seconds = trainer_.waiting_time.until(at_, trainer_.waiting);
  seen.prefetch = last().capacity;
  seen.prefetch_fill = seen.stages.back().queue_fill;
  seen.memory_bytes = memory_.used();
  seen.memory_peak = memory_.peak();
  wait_before_ += seen.trainer_wait_seconds;
  trainer_.waiting_time.restart();
  memory_.restart_peak();
  interval_start_ = now_;
  at_ = 0;
  return seen;
}

SimTotals Simulator::totals() const {
  SimTotals totals;
  totals.seconds = now_;
  totals.trained = trained_;
  totals.steps = steps_;
  totals.trainer_wait_seconds = wait_before_ + trainer_.waiting_time.until(at_, trainer_.waiting);
  totals.cpu_seconds = cpu_before_;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    totals.cpu_seconds += stages_[i].cpu_seconds(cpus_.clock(i, now_));
  }
  totals.memory_peak = memory_.peak_ever();
  totals.out_of_memory = out_of_memory();
  return totals;
}

}  // namespace forebay::tuner
