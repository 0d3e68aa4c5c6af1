#include "tuner/emulated/virtual_machine.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "tuner/world/world_layout.h"

namespace forebay::tuner {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

}  // namespace

CpuTokens::CpuTokens(double cpus, std::size_t stages)
    : cpus_(cpus), wanting_(stages, 0), used_(stages, 0) {}

double CpuTokens::share() const {
  const auto wanting = static_cast<double>(queue_.size());
  return wanting <= cpus_ ? 1 : cpus_ / wanting;
}

void CpuTokens::add(WorkItem& work, double seconds) {
  queue_.push({shared_ + seconds, &work});
  ++wanting_[work.stage];
}

double CpuTokens::next_end() const {
  if (queue_.empty()) return kNever;
  return now_ + std::max(0.0, queue_.top().end - shared_) / share();
}

void CpuTokens::advance(double now) {
  FOREBAY_CHECK(now >= now_);
  const double each = (now - now_) * share();
  for (std::size_t i = 0; i < used_.size(); ++i) {
    used_[i] += each * static_cast<double>(wanting_[i]);
  }
  shared_ += each;
  now_ = now;
}

WorkItem& CpuTokens::pop() {
  WorkItem& work = *queue_.top().work;
  queue_.pop();
  --wanting_[work.stage];
  return work;
}

VirtualMachine::VirtualMachine(PipelineModel model, std::uint64_t seed)
    : original_(std::move(model)),
      world_(is_world(original_)),
      state_(original_),
      model_(model_at(original_, 0)),
      normal_(seed),
      tails_(mix64(seed, kTails)),
      cpus_(model_.cpus, model_.stages.size()),
      gates_(nodes_of(model_).size() * model_.stages.size()) {
  for (const StageModel& stage : model_.stages) noise_.emplace_back(stage.noise);
  links_.resize(nodes_of(model_).size());
  if (!model_.resources.empty() || !model_.nodes.empty()) shared_.emplace(model_);
  apply_model(0);
}

// The trainer takes nothing in a pause: a step that would begin in one begins at its end.
double VirtualMachine::end_of_step(WorkItem& work) const {
  if (model_.pause && work.begin >= model_.pause->every) {
    const double since = std::fmod(work.begin, model_.pause->every);
    work.begin += std::max(0.0, model_.pause->seconds - since);
  }
  return work.begin + work.wait_seconds;
}

double VirtualMachine::drawn(const WorkItem& work) {
  const StageModel& stage = model_.stages[work.stage];
  const double factor = model_.nodes.empty() ? 1 : model_.nodes[work.node].seconds_factor;
  const double seconds =
      stage.seconds * factor * stage.slow(work.actors) * noise_[work.stage].next(normal_);
  if (!stage.tail || tails_.uniform() >= stage.tail->share) return seconds;
  return seconds * std::pow(1 - tails_.uniform(), -1 / stage.tail->shape);
}

void VirtualMachine::begin(WorkItem& work) {
  if (work.stage >= model_.stages.size()) return wait(work);
  const StageModel& stage = model_.stages[work.stage];
  const double seconds = drawn(work);
  work.cpu_seconds = seconds * stage.cpu;
  work.wait_seconds = seconds - work.cpu_seconds;
  gates_[line_of(work)].add(work);
}

/// Begins work that needs no CPU: the trainer's, an actor's start, or a split's way over a link.
void VirtualMachine::wait(WorkItem& work) {
  work.cpu_seconds = 0;
  if (work.stage == WorkItem::kLink) {
    const auto bytes = static_cast<double>(model_.stages.back().bytes_out);
    return links_[work.node].start(work, bytes, work.begin, std::max(now_, work.begin));
  }
  if (work.stage == model_.stages.size()) work.wait_seconds = model_.trainer_step_seconds;
  const bool starts = work.stage == WorkItem::kStartUp;
  waits_.push({starts ? work.begin + work.wait_seconds : end_of_step(work), &work});
}

void VirtualMachine::advance(double now, std::vector<WorkItem*>& ended) {
  for (double due = next_due(); due <= now; due = next_due()) happen(due, ended);
  if (now <= now_) return;
  cpus_.advance(now);
  if (shared_) shared_->advance(now);
  now_ = now;
}

double VirtualMachine::next_due() const {
  const double work_end = shared_ ? shared_->next_end() : cpus_.next_end();
  return std::min({next_event(), next_gate(), next_wait_end(), next_crossed(), work_end});
}

double VirtualMachine::next_event() const {
  if (world_) return state_.next_change();
  if (events_past_ == original_.events.size()) return kNever;
  return original_.events[events_past_].at_seconds;
}

double VirtualMachine::next_gate() const {
  double next = kNever;
  for (const StartGate& gate : gates_) next = std::min(next, gate.next_start());
  return next;
}

double VirtualMachine::next_wait_end() const {
  if (waits_.empty()) return kNever;
  return waits_.top().end;
}

double VirtualMachine::next_crossed() const {
  double next = kNever;
  for (const SharedLink& link : links_) next = std::min(next, link.next_end());
  return next;
}

/// Processes the first event that is due; a model event goes before all others of the same moment.
void VirtualMachine::happen(double due, std::vector<WorkItem*>& ended) {
  const double moment = std::max(due, now_);
  cpus_.advance(std::min(moment, cpus_.next_end()));
  now_ = moment;
  if (next_event() <= due) return apply_model(due);
  if (next_gate() <= due) return start_next();
  if (next_wait_end() <= due) return end_wait(ended);
  if (next_crossed() <= due) return cross_link(due, ended);
  WorkItem& work = shared_ ? shared_->pop(moment) : cpus_.pop();
  work.end = due;
  ended.push_back(&work);
}

void VirtualMachine::apply_model(double at) {
  model_ = model_at(original_, at);
  if (world_) {
    state_.move_to(at);
  } else {
    while (next_event() <= at) ++events_past_;
  }
  if (shared_) shared_->set(model_, now_);
  cpus_.set_cpus(model_.cpus);
  for (std::size_t i = 0; i < gates_.size(); ++i) {
    gates_[i].set_max_rate(model_.stages[i % model_.stages.size()].max_rate);
  }
  for (std::size_t k = 0; k < model_.nodes.size(); ++k) {
    links_[k].set_rate(model_.nodes[k].link_rate, now_);
  }
}

void VirtualMachine::start_next() {
  StartGate& gate = *std::ranges::min_element(gates_, {}, &StartGate::next_start);
  const double start = gate.next_start();
  WorkItem& work = gate.pop();
  if (shared_) {
    const double seconds = work.cpu_seconds + work.wait_seconds;
    return shared_->start(work, seconds, start, std::max(now_, start));
  }
  const double end = start + work.wait_seconds;
  work.wait_seconds = end - work.begin;
  waits_.push({end, &work});
}

void VirtualMachine::cross_link(double at, std::vector<WorkItem*>& ended) {
  SharedLink& link = *std::ranges::min_element(links_, {}, &SharedLink::next_end);
  ended.push_back(&link.pop(at));
}

void VirtualMachine::drop(std::size_t node, std::vector<WorkItem*>& dropped) {
  const std::size_t stages = model_.stages.size();
  if (shared_) shared_->drop(node, dropped);
  for (std::size_t i = 0; i < stages; ++i) gates_[node * stages + i].drop(dropped);
  links_[node].drop(dropped);
  std::vector<WaitingWork> kept;
  for (; !waits_.empty(); waits_.pop()) {
    const WaitingWork& next = waits_.top();
    const bool goes = next.work->node == node && next.work->stage == WorkItem::kStartUp;
    goes ? dropped.push_back(next.work) : kept.push_back(next);
  }
  for (const WaitingWork& each : kept) waits_.push(each);
}

void VirtualMachine::end_wait(std::vector<WorkItem*>& ended) {
  const auto [end, work] = waits_.top();
  waits_.pop();
  const bool others_wait = static_cast<double>(cpus_.wanting()) >= cpus_.cpus();
  const double made_up = others_wait ? 0 : std::min(now_ - end, work->cpu_seconds);
  if (work->stage < model_.stages.size()) cpus_.count(work->stage, made_up);
  if (made_up < work->cpu_seconds) return cpus_.add(*work, work->cpu_seconds - made_up);
  work->end = end + work->cpu_seconds;
  ended.push_back(work);
}

}  // namespace forebay::tuner
