#include "tuner/world/line_state.h"

#include <cmath>

namespace forebay::tuner {

LineState::LineState(const StageModel& model, std::size_t of_node, std::size_t of_stage)
    : node(of_node),
      stage(of_stage),
      cost(static_cast<const StageCost&>(model)),
      noise(model.noise),
      tail(model.tail),
      start_seconds(model.start_seconds),
      bytes_per_actor(model.bytes_per_actor),
      bytes_out(model.bytes_out) {}

void LineState::advance(double now) {
  const double passed = now - since;
  since = now;
  if (passed <= 0) return;
  const double done = passed * speed.speed;
  clock += done;
  cpu_clock += done * speed.cpu;
  ready_clock += done * speed.cpu * (speed.stretch - 1);
  cpu_used += static_cast<double>(in_work.size()) * done * speed.cpu;
}

double LineState::next_end() const {
  if (in_work.empty()) return std::numeric_limits<double>::infinity();
  return since + std::max(0.0, in_work.top_end() - clock) / speed.speed;
}

double LineState::drawn(NormalSource& normal, Random& tails) const {
  const double work = mean * noise.next(normal);
  if (!tail || tails.uniform() >= tail->share) return work;
  return work * std::pow(1 - tails.uniform(), -1 / tail->shape);
}

void LineState::set_alive(std::uint32_t number, double at) {
  for (; alive < number; ++alive) alive_time.up(at);
  for (; alive > number; --alive) alive_time.down(at);
  in_work.reserve(alive);
  update_mean();
}

void LineState::record(const WorldService& service, double now) {
  const double elapsed = now - service.taken;
  const double ready = std::max(0.0, ready_clock - service.ready);
  ++sums.done;
  sums.done_actors += service.actors;
  sums.done_seconds += elapsed;
  sums.done_seconds_squared += (elapsed - ready) * (elapsed - ready);
  sums.done_ready_seconds += ready;
  sums.done_cpu_seconds += cpu_clock - service.cpu;
}

StageObservation LineState::observation(double at, std::uint64_t behind) const {
  StageObservation seen = sums;
  seen.actors = staying();
  seen.leaving = leaving;
  seen.actor_seconds = alive_time.until(at, alive);
  // An actor that starts up has no split yet.
  seen.input_wait_seconds = idle_time.until(at, idle) + starting_time.until(at, starting.size());
  seen.output_wait_seconds = blocked_time.until(at, blocked.size());
  seen.working_seconds =
      std::max(0.0, seen.actor_seconds - seen.input_wait_seconds - seen.output_wait_seconds);
  seen.cpu_seconds = cpu_used - cpu_before;
  if (at > 0 && capacity > 0) {
    seen.queue_fill = std::min(1.0, queued_time.until(at, behind) / (at * capacity));
  }
  seen.queued_bytes = behind * bytes_out;
  return seen;
}

void LineState::restart() {
  alive_time.restart();
  idle_time.restart();
  starting_time.restart();
  blocked_time.restart();
  queued_time.restart();
  sums = {};
  cpu_before = cpu_used;
}

}  // namespace forebay::tuner
