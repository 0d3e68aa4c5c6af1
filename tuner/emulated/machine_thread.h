#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/timer_queue.h"
#include "tuner/allocation.h"
#include "tuner/emulated/virtual_machine.h"

namespace forebay::tuner {

/// How late threads woke; this is the first sign of an overloaded machine.
struct Lateness {
  std::uint64_t wakes = 0;
  double seconds = 0;        ///< Sum over the wakes.
  double worst_seconds = 0;  ///< The largest lateness of one wake.
  double work_seconds = 0;   ///< Sum of the sleeps.

  double mean_seconds() const { return wakes > 0 ? seconds / static_cast<double>(wakes) : 0; }
  /// Whether lateness is so small that it was made up for (with a margin for unmeasured lateness:
  /// threads that wait for a split or for free bytes wake late, too). Otherwise the figures
  /// describe this machine, not the emulated one.
  bool is_made_up_for() const { return mean_seconds() <= 0.002 && worst_seconds <= 0.05; }
};

/// A VirtualMachine in real time: an actor's thread that works on a split sleeps until the machine
/// ends the work.
///
/// One timer thread sleeps until an event is due and wakes the actors concerned, so the cost grows
/// with splits, not with actors. Ends are computed, not measured: a thread that overslept passes
/// the earlier `begin` with its next split, so a delay does not accumulate. Times in seconds since
/// the start. Any thread may call it.
class MachineThread {
 public:
  MachineThread(const PipelineModel& model, std::uint64_t seed, const Clock& clock);
  ~MachineThread();
  MachineThread(const MachineThread&) = delete;
  MachineThread& operator=(const MachineThread&) = delete;

  double now() const;

  /// Blocks until the work is done. Returns false if the machine was stopped meanwhile.
  [[nodiscard]] bool do_work(WorkItem& work);

  /// Begins work without an actor, and calls `done` when it ends: on any thread, which `done` must
  /// not block, and without a lock. Not called if the machine or the work's node stops first.
  void do_later(const WorkItem& work, std::function<void(const WorkItem&)> done);

  /// Loses a node: its work ends now, with do_work() returning false, also that which begins before
  /// bring_back().
  void lose(std::size_t node);
  void bring_back(std::size_t node);

  /// Sleeps until that time, also after freeze(). Must not be called after stop().
  void wait_until(double seconds);

  /// Stops all events, as in a process that was killed; actors that work stay asleep.
  void freeze();
  /// Wakes all sleeping actors and makes do_work() return false from now on.
  void stop();

  /// CPU seconds that each line (nodes × stages) has used so far, unfinished work included.
  std::vector<double> cpu_seconds();

  /// The limits that the model sets a node now.
  Limits limits(std::size_t node = 0) const;
  /// Bytes a second of a node's link now; 0: it has none.
  double link_rate(std::size_t node) const;
  /// The model with its past events applied.
  PipelineModel model() const;
  Lateness lateness() const;

 private:
  struct Sleeper;
  using Ended = std::vector<WorkItem*>;

  void tick();
  void advance(Ended& ended);
  void plan_tick();
  std::chrono::nanoseconds moment(double seconds) const;
  static void wake(const Ended& ended);
  bool begin(Sleeper& sleeper, Ended& ended);
  void count_lateness(const WorkItem& work);

  const Clock& clock_;
  const std::chrono::nanoseconds start_;
  Synchronized<> serial_;  // guards the members below
  VirtualMachine machine_;
  std::unordered_set<Sleeper*> sleepers_;  // actors whose work has not ended
  double tick_at_ = std::numeric_limits<double>::infinity();
  std::optional<TimerQueue::Key> tick_;
  std::set<std::size_t> lost_;  // nodes
  bool frozen_ = false;
  bool stopped_ = false;
  Lateness lateness_;
  TimerThread timers_;
};

}  // namespace forebay::tuner
