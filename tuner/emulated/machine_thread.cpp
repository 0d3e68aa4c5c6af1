#include "tuner/emulated/machine_thread.h"

#include <algorithm>
#include <cmath>

#include "core/base/clock.h"
#include "core/runtime/executor/parker.h"

namespace forebay::tuner {
/// A sleeping actor's work; lives on the stack of the actor's thread.
struct MachineThread::Sleeper : WorkItem {
  explicit Sleeper(const WorkItem& work) : WorkItem(work) {}

  bool done = false;  // set before the only unpark; false: stopped
  Parker parker;
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
  const bool begun = serial_([&] {
    if (stopped_) return false;
    sleepers_.insert(&sleeper);
    advance(ended);
    machine_.begin(sleeper);
    advance(ended);
    plan_tick();
    return true;
  });
  if (!begun) return false;
  wake(ended);
  sleeper.parker.park();
  const double woke = now();
  if (!sleeper.done) return false;
  work = static_cast<const WorkItem&>(sleeper);
  serial_([&] {
    ++lateness_.wakes;
    lateness_.seconds += woke - work.end;
    lateness_.worst_seconds = std::max(lateness_.worst_seconds, woke - work.end);
    lateness_.work_seconds += work.seconds();
  });
  return true;
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
  for (WorkItem* work : ended) static_cast<Sleeper*>(work)->parker.unpark();
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
    for (Sleeper* sleeper : sleepers_) sleeper->parker.unpark();
    sleepers_.clear();
  });
  timers_.stop();
}

std::vector<double> MachineThread::cpu_seconds() {
  Ended ended;
  std::vector<double> used;
  serial_([&] {
    advance(ended);
    for (std::size_t i = 0; i < machine_.model().stages.size(); ++i) {
      used.push_back(machine_.cpu_seconds(i));
    }
  });
  wake(ended);
  return used;
}

Limits MachineThread::limits() const {
  return serial_([this] {
    return Limits{.cpus = machine_.model().cpus, .memory_bytes = machine_.model().memory_bytes};
  });
}

PipelineModel MachineThread::model() const {
  return serial_([this] { return PipelineModel(machine_.model()); });
}

Lateness MachineThread::lateness() const {
  return serial_([this] { return Lateness(lateness_); });
}

}  // namespace forebay::tuner
