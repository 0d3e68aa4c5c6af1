#include "tuner/sim/stage_state.h"

namespace forebay::tuner {

StageState::StageState(const StageModel& stage)
    : cost(static_cast<const StageCost&>(stage)),
      noise(stage.noise),
      gap(stage.max_rate > 0 ? 1 / stage.max_rate : 0),
      bytes_per_actor(stage.bytes_per_actor),
      bytes_out(stage.bytes_out) {}

void StageState::set_alive(std::uint32_t number, double at) {
  for (; alive < number; ++alive) alive_time.up(at);
  for (; alive > number; --alive) alive_time.down(at);
  in_work.reserve(alive);
  update_mean();
}

double StageState::cpu_seconds(double clock) const {
  return cost.cpu * std::max(0.0, done_work + in_work.progress(clock) - progress_before);
}

StageObservation StageState::observation(double at, double clock) const {
  StageObservation seen = sums;
  seen.actors = staying();
  seen.leaving = leaving;
  seen.actor_seconds = alive_time.until(at, alive);
  seen.input_wait_seconds = idle_time.until(at, idle);
  seen.output_wait_seconds = blocked_time.until(at, blocked);
  seen.working_seconds =
      std::max(0.0, seen.actor_seconds - seen.input_wait_seconds - seen.output_wait_seconds);
  seen.cpu_seconds = cpu_seconds(clock);
  seen.done_cpu_seconds = cost.cpu * done_work;
  if (at > 0 && capacity > 0) {
    seen.queue_fill = std::min(1.0, queued_time.until(at, queued) / (at * capacity));
  }
  seen.queued_bytes = queued * bytes_out;
  return seen;
}

void StageState::restart(double clock) {
  alive_time.restart();
  idle_time.restart();
  blocked_time.restart();
  queued_time.restart();
  sums = {};
  done_work = 0;
  progress_before = in_work.progress(clock);
}

}  // namespace forebay::tuner
