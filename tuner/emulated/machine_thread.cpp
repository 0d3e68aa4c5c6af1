#include "tuner/emulated/machine_thread.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/executor/parker.h"

namespace forebay::tuner {

/// An actor's work, which lives on the stack of the actor's thread; or work without an actor, which
/// lives until `then` was called or is not to be called any more.
struct MachineThread::Sleeper : WorkItem {
  explicit Sleeper(const WorkItem& work, std::function<void(const WorkItem&)> done_later = {})
      : WorkItem(work), then(std::move(done_later)) {}

  /// Tells that the work has ended or was stopped. The sleeper may be gone afterwards.
  void wake() {
    if (!then) return parker.unpark();
    const std::unique_ptr<Sleeper> own(this);
    if (done) then(*this);
  }

  bool done = false;  // set before the only wake(); false: stopped
  Parker parker;
  const std::function<void(const WorkItem&)> then;
};

MachineThread::MachineThread(const PipelineModel& model, std::uint64_t seed, const Clock& clock)
    : clock_(clock), start_(clock.now()), machine_(model, seed), timers_(clock) {
  serial_([this] { plan_tick(); });
}

MachineThread::~MachineThread() { stop(); }

double MachineThread::now() const { return in_seconds(clock_.now() - start_); }

bool MachineThread::do_work(WorkItem& work) {
  Sleeper sleeper(work);
  Ended ended;
  if (!begin(sleeper, ended)) return false;
  wake(ended);
  sleeper.parker.park();
  if (!sleeper.done) return false;
  work = static_cast<const WorkItem&>(sleeper);
  count_lateness(work);
  return true;
}

void MachineThread::do_later(const WorkItem& work, std::function<void(const WorkItem&)> done) {
  auto sleeper = std::make_unique<Sleeper>(work, std::move(done));
  Ended ended;
  if (begin(*sleeper, ended)) static_cast<void>(sleeper.release());  // Owned by its wake().
  wake(ended);
}

bool MachineThread::begin(Sleeper& sleeper, Ended& ended) {
  return serial_([&] {
    const bool lost = lost_.contains(sleeper.node) && sleeper.stage != machine_.trainer();
    if (stopped_ || lost) return false;
    sleepers_.insert(&sleeper);
    advance(ended);
    machine_.begin(sleeper);
    advance(ended);
    plan_tick();
    return true;
  });
}

void MachineThread::count_lateness(const WorkItem& work) {
  const double late = now() - work.end;
  serial_([&] {
    ++lateness_.wakes;
    lateness_.seconds += late;
    lateness_.worst_seconds = std::max(lateness_.worst_seconds, late);
    lateness_.work_seconds += work.seconds();
  });
}

void MachineThread::lose(std::size_t node) {
  Ended ended;
  Ended dropped;
  serial_([&] {
    lost_.insert(node);
    if (stopped_) return;  // Then no sleeper is left, and the machine's items are void.
    advance(ended);
    machine_.drop(node, dropped);
    for (WorkItem* work : dropped) sleepers_.erase(static_cast<Sleeper*>(work));
    plan_tick();
  });
  wake(ended);
  wake(dropped);
}

void MachineThread::bring_back(std::size_t node) {
  serial_([&] { lost_.erase(node); });
}

/// Appends finished work to `ended`. The caller wakes its sleepers after it releases the lock.
void MachineThread::advance(Ended& ended) {
  if (frozen_ || stopped_) return;
  const std::size_t before = ended.size();
  machine_.advance(now(), ended);
  for (std::size_t i = before; i < ended.size(); ++i) {
    auto* sleeper = static_cast<Sleeper*>(ended[i]);
    sleeper->done = true;
    sleepers_.erase(sleeper);
  }
}

void MachineThread::wake(const Ended& ended) {
  for (WorkItem* work : ended) static_cast<Sleeper*>(work)->wake();
}

/// Schedules the next tick. A tick that fires early is harmless: it plans the next.
void MachineThread::plan_tick() {
  const double due = machine_.next_due();
  if (frozen_ || stopped_ || due >= tick_at_) return;
  if (tick_) timers_.queue().cancel(*tick_);
  tick_at_ = due;
  tick_ = timers_.queue().add(moment(due), [this] { tick(); });
}

void MachineThread::tick() {
  Ended ended;
  serial_([&] {
    tick_.reset();
    tick_at_ = std::numeric_limits<double>::infinity();
    advance(ended);
    plan_tick();
  });
  wake(ended);
}

/// Rounded up, so that the event is due when the timer fires.
std::chrono::nanoseconds MachineThread::moment(double seconds) const {
  return start_ + std::chrono::nanoseconds(static_cast<std::int64_t>(std::ceil(seconds * 1e9)));
}

void MachineThread::wait_until(double seconds) {
  Parker parker;
  timers_.queue().add(moment(seconds), [&parker] { parker.unpark(); });
  parker.park();
}

void MachineThread::freeze() {
  serial_([this] { frozen_ = true; });
}

void MachineThread::stop() {
  serial_([this] {
    stopped_ = true;
    for (Sleeper* sleeper : sleepers_) sleeper->wake();
    sleepers_.clear();
  });
  timers_.stop();
}

std::vector<double> MachineThread::cpu_seconds() {
  Ended ended;
  std::vector<double> used;
  serial_([&] {
    advance(ended);
    for (std::size_t i = 0; i < machine_.lines(); ++i) {
      used.push_back(machine_.cpu_seconds(i));
    }
  });
  wake(ended);
  return used;
}

Limits MachineThread::limits(std::size_t node) const {
  return serial_([&] {
    const PipelineModel& model = machine_.model();
    if (model.nodes.empty()) return Limits{.cpus = model.cpus, .memory_bytes = model.memory_bytes};
    const NodeModel& own = model.nodes[node];
    return Limits{.cpus = own.cpus, .memory_bytes = own.memory_bytes};
  });
}

double MachineThread::link_rate(std::size_t node) const {
  return serial_([&] {
    const PipelineModel& model = machine_.model();
    return model.nodes.empty() || model.nodes[node].trainer ? 0.0 : model.nodes[node].link_rate;
  });
}

PipelineModel MachineThread::model() const {
  return serial_([this] { return PipelineModel(machine_.model()); });
}

Lateness MachineThread::lateness() const {
  return serial_([this] { return Lateness(lateness_); });
}

}  // namespace forebay::tuner
