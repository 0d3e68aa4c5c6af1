#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_set>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/timer_thread.h"
#include "tuner/emulated/virtual_machine.h"
#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// How late threads woke: what a machine with too much else to do shows first.
struct Lateness {
  std::uint64_t wakes = 0;
  double seconds = 0;        ///< Summed over those.
  double worst_seconds = 0;  ///< The latest of them.
  double work_seconds = 0;   ///< What they had slept for.

  double mean_seconds() const { return wakes > 0 ? seconds / static_cast<double>(wakes) : 0; }
  /// So little that it was made up for (with room for what is not seen here: threads that wait for
  /// a split or for room wake late, too). Else figures are this machine's, not the emulated one's.
  bool is_made_up_for() const { return mean_seconds() <= 0.002 && worst_seconds <= 0.05; }
};

/// A VirtualMachine in real time: an actor's thread that does a split's work sleeps until the
/// machine says that it is done.
///
/// One thread of its own sleeps until something is due and wakes whoever is concerned, so a
/// thousand actors cost no more than the splits they do. Ends are computed, not measured: a thread
/// that overslept says so with its next split (its `begin`), and what is late once is not late
/// for good. Times in seconds since the start. Any thread may call it.
class MachineThread {
 public:
  MachineThread(const PipelineModel& model, std::uint64_t seed, const Clock& clock);
  ~MachineThread();
  MachineThread(const MachineThread&) = delete;
  MachineThread& operator=(const MachineThread&) = delete;

  double now() const;

  /// Blocks until the work is done. False: stopped meanwhile.
  [[nodiscard]] bool do_work(WorkItem& work);

  /// Waits for that time, whatever the model does. Not to be called once stopped.
  void wait_until(double seconds);

  /// Nothing ends any more, as in a process that was killed; who works, works on.
  void freeze();
  /// Lets go of whoever works, and of whoever comes.
  void stop();

  /// CPU seconds that each stage has used so far, unfinished work included.
  std::vector<double> cpu_seconds();

  /// What the machine grants now.
  Limits limits() const;
  /// The model as it stands now, its events past.
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

  const Clock& clock_;
  const std::chrono::nanoseconds start_;
  Synchronized<> serial_;  // one at a time with all below
  VirtualMachine machine_;
  std::unordered_set<Sleeper*> sleepers_;  // whose work has not ended
  double tick_at_ = std::numeric_limits<double>::infinity();
  std::optional<TimerQueue::Key> tick_;
  bool frozen_ = false;
  bool stopped_ = false;
  Lateness lateness_;
  TimerThread timers_;
};

}  // namespace forebay::tuner
