#include <algorithm>

#include "tuner/sim/simulator.h"

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

Simulator::Simulator(const PipelineModel& model, std::uint64_t seed)
    : model_(model),
      description_(description_of(model)),
      cpus_(cpu_shares(model), model.cpus),
      memory_(model.base_bytes, model.memory_bytes),
      normal_(seed),
      trainer_at_(model.stages.size()),
      outside_at_(trainer_at_ + 1),
      starts_at_(outside_at_ + 1),
      next_(starts_at_ + (spaces_starts(model) ? trainer_at_ : 0), kNever) {
  trainer_.step_seconds = model_.trainer_step_seconds;
  sums_.prefetch_empty = 1;
  for (const StageModel& stage : model_.stages) {
    stages_.emplace_back(stage).capacity = model_.queue_splits;
  }
  trainer_.waiting_time.up(0);
  happen_outside();
  resize(one_each(description_));
}

void Simulator::run_until(double seconds) {
  while (!memory_.exceeded()) {
    const std::size_t what = soonest(next_);
    if (next_[what] > seconds) break;
    now_ = std::max(now_, next_[what]);
    at_ = now_ - interval_start_;
    happen(what);
  }
  now_ = std::max(now_, seconds);
  at_ = now_ - interval_start_;
}

void Simulator::happen(std::size_t what) {
  if (what < trainer_at_) {
    finish(what);
  } else if (what == trainer_at_) {
    finish_training();
  } else if (what == outside_at_) {
    happen_outside();
  } else {
    start_spaced(what - starts_at_);
  }
  share_cpus();
}

void Simulator::share_cpus() {
  if (vacated_ != kNobody) {
    stages_[vacated_].in_work.pop();
    cpus_.remove(vacated_);
    foresee(vacated_);
    vacated_ = kNobody;
  }
  if (!cpus_.update(now_)) return;
  for (std::size_t i = 0; i < stages_.size(); ++i) foresee(i);
}

void Simulator::foresee(std::size_t i) {
  const ServiceHeap& in_work = stages_[i].in_work;
  next_[i] = in_work.empty() ? kNever : cpus_.when(i, in_work.top_end());
}

void Simulator::finish(std::size_t i) {
  StageState& stage = stages_[i];
  stage.record(stage.in_work.top(), now_);
  ++steps_;
  vacated_ = i;
  if (put_out(i)) {
    release(i);
  } else {
    ++stage.blocked;
    stage.blocked_time.up(at_);
  }
}

bool Simulator::put_out(std::size_t i) {
  StageState& stage = stages_[i];
  if (i + 1 < stages_.size() ? hand_to_idle(stages_[i + 1], i + 1) : hand_to_trainer()) return true;
  if (stage.queued >= stage.capacity) return false;
  enqueue(stage);
  return true;
}

bool Simulator::hand_to_idle(StageState& stage, std::size_t i) {
  if (stage.idle == 0) return false;
  --stage.idle;
  stage.idle_time.down(at_);
  begin(i);
  return true;
}

bool Simulator::hand_to_trainer() {
  if (!trainer_.waiting) return false;
  trainer_.waiting = false;
  trainer_.waiting_time.down(at_);
  train();
  return true;
}

void Simulator::enqueue(StageState& stage) {
  ++stage.queued;
  stage.queued_time.up(at_);
  memory_.take(stage.bytes_out);
  if (&stage == &last() && stage.queued == stage.capacity) ++sums_.prefetch_full;
}

bool Simulator::take_from(std::size_t i) {
  StageState& stage = stages_[i];
  if (stage.queued == 0) return false;
  --stage.queued;
  stage.queued_time.down(at_);
  memory_.give(stage.bytes_out);
  unblock(i);
  return true;
}

void Simulator::unblock(std::size_t i) {
  StageState& stage = stages_[i];
  if (stage.blocked == 0 || stage.queued >= stage.capacity) return;
  --stage.blocked;
  stage.blocked_time.down(at_);
  enqueue(stage);
  release(i);
}

void Simulator::release(std::size_t i) {
  StageState& stage = stages_[i];
  if (stage.leaving > 0) {
    leave(stage);
  } else if (i == 0) {
    begin(i);
  } else if (stages_[i - 1].queued > 0) {
    begin(i);
    take_from(i - 1);
  } else {
    ++stage.idle;
    stage.idle_time.up(at_);
  }
}

void Simulator::leave(StageState& stage) {
  --stage.leaving;
  remove_actors(stage, 1);
  if (stage.exempt == 0) return;
  --stage.exempt;
  memory_.give_exempt(stage.bytes_per_actor);
}

void Simulator::remove_actors(StageState& stage, std::uint32_t count) {
  stage.set_alive(stage.alive - count, at_);
  memory_.give(count * stage.bytes_per_actor);
}

void Simulator::begin(std::size_t i) {
  StageState& stage = stages_[i];
  const double earliest = stage.last_start + stage.gap;
  if (stage.gap > 0 && (earliest > now_ || !stage.not_started.empty())) {
    if (stage.not_started.empty()) next_[starts_at_ + i] = earliest;
    stage.not_started.push_back(now_);
  } else {
    start(i, now_);
  }
}

void Simulator::start_spaced(std::size_t i) {
  start(i, stages_[i].not_started.front());
  stages_[i].not_started.pop_front();
  plan_start(i);
}

void Simulator::plan_start(std::size_t i) {
  const StageState& stage = stages_[i];
  next_[starts_at_ + i] = kNever;
  if (!stage.not_started.empty()) {
    next_[starts_at_ + i] = std::max(now_, stage.last_start + stage.gap);
  }
}

void Simulator::start(std::size_t i, double taken) {
  StageState& stage = stages_[i];
  stage.last_start = now_;
  const double work = stage.mean * stage.noise.next(normal_);
  const double end = cpus_.clock(i, now_) + work;
  const Service service{.work = work, .taken = taken, .started = now_, .actors = stage.alive};
  if (vacated_ == i) {
    stage.in_work.replace_top(end, service);
    vacated_ = kNobody;
  } else {
    stage.in_work.push(end, service);
    cpus_.add(i);
  }
  foresee(i);
}

void Simulator::train() {
  trainer_.step_in_work = trainer_.step_seconds;
  next_[trainer_at_] = now_ + trainer_.step_seconds;
}

void Simulator::finish_training() {
  ++sums_.trainer_steps;
  ++trained_;
  sums_.trainer_step_seconds += trainer_.step_in_work;
  if (take_from(trainer_at_ - 1)) {
    train();
    return;
  }
  ++sums_.prefetch_empty;
  trainer_.waiting = true;
  trainer_.waiting_time.up(at_);
  next_[trainer_at_] = kNever;
}

void Simulator::happen_outside() {
  for (; events_seen_ < model_.events.size() && model_.events[events_seen_].at_seconds <= now_;
       ++events_seen_) {
    obey(model_.events[events_seen_]);
  }
  if (memory_.enforce(now_, leaving_bytes())) {
    for (StageState& stage : stages_) stage.exempt = stage.leaving;
  }
  next_[outside_at_] = memory_.next_change();
  if (events_seen_ == model_.events.size()) return;
  next_[outside_at_] = std::min(next_[outside_at_], model_.events[events_seen_].at_seconds);
}

void Simulator::obey(const ModelEvent& event) {
  if (event.stage) obey(event, *event.stage);
  if (event.cpus) cpus_.set_cpus(*event.cpus);
  if (event.memory_bytes) memory_.set_limit(now_, *event.memory_bytes);
  trainer_.step_seconds = event.trainer_step_seconds.value_or(trainer_.step_seconds);
  limits_cpus_ = event.cpus.value_or(limits_cpus_);
}

void Simulator::obey(const ModelEvent& event, std::size_t i) {
  StageState& stage = stages_[i];
  if (event.seconds_factor) {
    stage.cost.seconds = model_.stages[i].seconds * *event.seconds_factor;
    stage.update_mean();
  }
  if (!event.max_rate) return;
  stage.gap = *event.max_rate > 0 ? 1 / *event.max_rate : 0;
  if (starts_at_ + i < next_.size()) plan_start(i);
}

std::uint64_t Simulator::leaving_bytes() const {
  std::uint64_t bytes = 0;
  for (const StageState& stage : stages_) bytes += stage.leaving * stage.bytes_per_actor;
  return bytes;
}

void Simulator::resize(const Allocation& allocation) {
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    shrink(stages_[i], std::max(1U, allocation.actors[i]));
  }
  set_prefetch(std::max(1U, allocation.prefetch));
  for (std::size_t i = 0; i < stages_.size(); ++i) grow(i, allocation.actors[i]);
  share_cpus();
}

void Simulator::shrink(StageState& stage, std::uint32_t wanted) {
  if (wanted >= stage.staying()) return;
  const std::uint32_t surplus = stage.staying() - wanted;
  const std::uint32_t at_once = std::min(surplus, stage.idle);
  for (std::uint32_t k = 0; k < at_once; ++k) stage.idle_time.down(at_);
  stage.idle -= at_once;
  remove_actors(stage, at_once);
  stage.leaving += surplus - at_once;
}

void Simulator::grow(std::size_t i, std::uint32_t wanted) {
  StageState& stage = stages_[i];
  if (wanted <= stage.staying()) return;
  const std::uint32_t kept = std::min(wanted - stage.staying(), stage.leaving);
  stage.leaving -= kept;
  for (; stage.exempt > stage.leaving; --stage.exempt) memory_.give_exempt(stage.bytes_per_actor);
  const std::uint32_t fresh = wanted - stage.staying();
  stage.set_alive(wanted + stage.leaving, at_);
  memory_.take(fresh * stage.bytes_per_actor);
  for (std::uint32_t k = 0; k < fresh; ++k) release(i);
}

void Simulator::set_prefetch(std::uint32_t items) {
  StageState& stage = last();
  stage.capacity = items;
  while (stage.blocked > 0 && stage.queued < stage.capacity) unblock(stages_.size() - 1);
}

}  // namespace forebay::tuner
