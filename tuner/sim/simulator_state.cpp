#include "tuner/sim/simulator_state.h"

#include <algorithm>

namespace forebay::tuner {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

std::vector<double> cpu_shares(const PipelineModel& model) {
  std::vector<double> shares;
  for (const StageModel& stage : model.stages) shares.push_back(stage.cpu);
  return shares;
}

bool spaces_starts(const PipelineModel& model) {
  const auto limited = [](const auto& what) { return what.max_rate > 0; };
  const auto limits = [](const ModelEvent& event) { return event.max_rate.value_or(0) > 0; };
  return std::any_of(model.stages.begin(), model.stages.end(), limited) ||
         std::any_of(model.events.begin(), model.events.end(), limits);
}

/// Index of the least of `moments`, the first of equals. Does not branch on the values, because the
/// result cannot be predicted.
std::size_t soonest(const std::vector<double>& moments) {
  const std::size_t size = moments.size();
  double even = moments[0];
  double odd = kNever;
  for (std::size_t i = 1; i + 1 < size; i += 2) {
    odd = std::min(odd, moments[i]);
    even = std::min(even, moments[i + 1]);
  }
  const double least = std::min({even, odd, moments[size - 1]});
  std::size_t found = size - 1;
  for (std::size_t i = size - 1; i-- > 0;) found = moments[i] == least ? i : found;
  return found;
}

}  // namespace

Simulator::State::State(const PipelineModel& described, std::uint64_t seed)
    : model(described),
      description(description_of(described)),
      cpus(cpu_shares(described), described.cpus),
      memory(described.base_bytes, described.memory_bytes),
      normal(seed),
      trainer_at(described.stages.size()),
      outside_at(trainer_at + 1),
      starts_at(outside_at + 1),
      next(starts_at + (spaces_starts(described) ? trainer_at : 0), kNever) {
  trainer.step_seconds = model.trainer_step_seconds;
  trainer.found_empty = 1;
  for (const StageModel& stage : model.stages) {
    stages.emplace_back(stage).capacity = model.queue_splits;
  }
  trainer.waiting_time.up(0);
  happen_outside();
  apply(one_each(description));
}

void Simulator::State::run_until(double seconds) {
  while (!memory.exceeded()) {
    const std::size_t what = soonest(next);
    if (next[what] > seconds) break;
    now = std::max(now, next[what]);
    at = now - interval_start;
    happen(what);
  }
  now = std::max(now, seconds);
  at = now - interval_start;
}

void Simulator::State::happen(std::size_t what) {
  if (what < trainer_at) {
    finish(what);
  } else if (what == trainer_at) {
    finish_training();
  } else if (what == outside_at) {
    happen_outside();
  } else {
    start_spaced(what - starts_at);
  }
  share_cpus();
}

void Simulator::State::share_cpus() {
  if (vacated != kNobody) {
    stages[vacated].in_work.pop();
    cpus.remove(vacated);
    foresee(vacated);
    vacated = kNobody;
  }
  if (!cpus.update(now)) return;
  for (std::size_t i = 0; i < stages.size(); ++i) foresee(i);
}

void Simulator::State::foresee(std::size_t i) {
  const ServiceHeap& in_work = stages[i].in_work;
  next[i] = in_work.empty() ? kNever : cpus.when(i, in_work.top_end());
}

void Simulator::State::finish(std::size_t i) {
  StageState& stage = stages[i];
  stage.record(stage.in_work.top(), now);
  ++steps;
  vacated = i;
  if (put_out(i)) {
    release(i);
  } else {
    ++stage.blocked;
    stage.blocked_time.up(at);
  }
}

bool Simulator::State::put_out(std::size_t i) {
  StageState& stage = stages[i];
  if (i + 1 < stages.size() ? hand_to_idle(stages[i + 1], i + 1) : hand_to_trainer()) return true;
  if (stage.queued >= stage.capacity) return false;
  enqueue(stage);
  return true;
}

bool Simulator::State::hand_to_idle(StageState& stage, std::size_t i) {
  if (stage.idle == 0) return false;
  --stage.idle;
  stage.idle_time.down(at);
  begin(i);
  return true;
}

bool Simulator::State::hand_to_trainer() {
  if (!trainer.waiting) return false;
  trainer.waiting = false;
  trainer.waiting_time.down(at);
  train();
  return true;
}

void Simulator::State::enqueue(StageState& stage) {
  ++stage.queued;
  stage.queued_time.up(at);
  memory.take(stage.bytes_out);
  if (&stage == &last() && stage.queued == stage.capacity) ++trainer.became_full;
}

void Simulator::State::dequeue(StageState& stage) {
  --stage.queued;
  stage.queued_time.down(at);
  memory.give(stage.bytes_out);
}

bool Simulator::State::take_from(std::size_t i) {
  if (stages[i].queued == 0) return false;
  dequeue(stages[i]);
  unblock(i);
  return true;
}

void Simulator::State::unblock(std::size_t i) {
  StageState& stage = stages[i];
  if (stage.blocked == 0 || stage.queued >= stage.capacity) return;
  --stage.blocked;
  stage.blocked_time.down(at);
  enqueue(stage);
  release(i);
}

void Simulator::State::release(std::size_t i) {
  StageState& stage = stages[i];
  if (stage.leaving > 0) {
    leave(stage);
  } else if (i == 0) {
    begin(i);
  } else if (stages[i - 1].queued > 0) {
    begin(i);
    take_from(i - 1);
  } else {
    ++stage.idle;
    stage.idle_time.up(at);
  }
}

void Simulator::State::leave(StageState& stage) {
  --stage.leaving;
  remove_actors(stage, 1);
  if (stage.exempt == 0) return;
  --stage.exempt;
  memory.give_exempt(stage.bytes_per_actor);
}

void Simulator::State::remove_actors(StageState& stage, std::uint32_t count) {
  stage.set_alive(stage.alive - count, at);
  memory.give(count * stage.bytes_per_actor);
}

void Simulator::State::begin(std::size_t i) {
  StageState& stage = stages[i];
  const double earliest = stage.last_start + stage.gap;
  if (stage.gap > 0 && (earliest > now || !stage.not_started.empty())) {
    if (stage.not_started.empty()) next[starts_at + i] = earliest;
    stage.not_started.push(now);
  } else {
    start(i, now);
  }
}

void Simulator::State::start_spaced(std::size_t i) {
  start(i, stages[i].not_started.pop());
  plan_start(i);
}

void Simulator::State::plan_start(std::size_t i) {
  const StageState& stage = stages[i];
  next[starts_at + i] = kNever;
  if (!stage.not_started.empty()) {
    next[starts_at + i] = std::max(now, stage.last_start + stage.gap);
  }
}

void Simulator::State::start(std::size_t i, double taken) {
  StageState& stage = stages[i];
  stage.last_start = now;
  const double work = stage.mean * stage.noise.next(normal);
  const double end = cpus.clock(i, now) + work;
  const Service service{.work = work, .taken = taken, .started = now, .actors = stage.alive};
  if (vacated == i) {
    stage.in_work.replace_top(end, service);
    vacated = kNobody;
  } else {
    stage.in_work.push(end, service);
    cpus.add(i);
  }
  foresee(i);
}

void Simulator::State::train() {
  trainer.step_in_work = trainer.step_seconds;
  next[trainer_at] = now + trainer.step_seconds;
}

void Simulator::State::finish_training() {
  ++trainer.steps;
  ++trained;
  trainer.worked += trainer.step_in_work;
  if (take_from(trainer_at - 1)) {
    train();
    return;
  }
  ++trainer.found_empty;
  trainer.waiting = true;
  trainer.waiting_time.up(at);
  next[trainer_at] = kNever;
}

void Simulator::State::happen_outside() {
  for (; events_seen < model.events.size() && model.events[events_seen].at_seconds <= now;
       ++events_seen) {
    obey(model.events[events_seen]);
  }
  if (memory.enforce(now, leaving_bytes())) {
    for (StageState& stage : stages) stage.exempt = stage.leaving;
  }
  next[outside_at] = memory.next_change();
  if (events_seen == model.events.size()) return;
  next[outside_at] = std::min(next[outside_at], model.events[events_seen].at_seconds);
}

void Simulator::State::obey(const ModelEvent& event) {
  if (event.stage) obey(event, *event.stage);
  if (event.cpus) cpus.set_cpus(*event.cpus);
  if (event.memory_bytes) memory.set_limit(now, *event.memory_bytes);
  trainer.step_seconds = event.trainer_step_seconds.value_or(trainer.step_seconds);
  limits_cpus = event.cpus.value_or(limits_cpus);
}

void Simulator::State::obey(const ModelEvent& event, std::size_t i) {
  StageState& stage = stages[i];
  if (event.seconds_factor) {
    stage.seconds = model.stages[i].seconds * *event.seconds_factor;
    stage.update_mean();
  }
  if (!event.max_rate) return;
  stage.gap = *event.max_rate > 0 ? 1 / *event.max_rate : 0;
  if (starts_at + i < next.size()) plan_start(i);
}

std::uint64_t Simulator::State::leaving_bytes() const {
  std::uint64_t bytes = 0;
  for (const StageState& stage : stages) bytes += stage.leaving * stage.bytes_per_actor;
  return bytes;
}

void Simulator::State::apply(const Allocation& allocation) {
  for (std::size_t i = 0; i < stages.size(); ++i) {
    shrink(stages[i], std::max(1U, allocation.actors[i]));
  }
  set_prefetch(std::max(1U, allocation.prefetch));
  for (std::size_t i = 0; i < stages.size(); ++i) grow(i, allocation.actors[i]);
  share_cpus();
}

void Simulator::State::shrink(StageState& stage, std::uint32_t wanted) {
  if (wanted >= stage.staying()) return;
  const std::uint32_t surplus = stage.staying() - wanted;
  const std::uint32_t at_once = std::min(surplus, stage.idle);
  for (std::uint32_t k = 0; k < at_once; ++k) stage.idle_time.down(at);
  stage.idle -= at_once;
  remove_actors(stage, at_once);
  stage.leaving += surplus - at_once;
}

void Simulator::State::grow(std::size_t i, std::uint32_t wanted) {
  StageState& stage = stages[i];
  if (wanted <= stage.staying()) return;
  const std::uint32_t kept = std::min(wanted - stage.staying(), stage.leaving);
  stage.leaving -= kept;
  for (; stage.exempt > stage.leaving; --stage.exempt) memory.give_exempt(stage.bytes_per_actor);
  const std::uint32_t fresh = wanted - stage.staying();
  stage.set_alive(wanted + stage.leaving, at);
  memory.take(fresh * stage.bytes_per_actor);
  for (std::uint32_t k = 0; k < fresh; ++k) release(i);
}

void Simulator::State::set_prefetch(std::uint32_t items) {
  StageState& stage = last();
  stage.capacity = items;
  while (stage.blocked > 0 && stage.queued < stage.capacity) unblock(stages.size() - 1);
}

}  // namespace forebay::tuner
