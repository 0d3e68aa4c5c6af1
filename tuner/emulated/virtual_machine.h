#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <limits>
#include <optional>
#include <queue>
#include <vector>

#include "core/base/random.h"
#include "tuner/emulated/shared_link.h"
#include "tuner/emulated/shared_work.h"
#include "tuner/emulated/virtual_machine_work.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/world_state.h"

namespace forebay::tuner {

/// Work in a queue by its end, the first end on top.
struct WaitingWork {
  double end = 0;
  WorkItem* work = nullptr;
  bool operator<(const WaitingWork& other) const { return end > other.end; }
};

/// Virtual CPUs, shared by the actors that need one for their split's work.
///
/// Each CPU is a token that rotates in infinitesimal slices among the actors that want one: of n
/// such actors each has min(1, cpus / n) of a token at every moment. So no token is idle while an
/// actor wants it, never more tokens are held than exist, and work stretches as under a fair kernel
/// scheduler (processor sharing). Ends are kept in the CPU time of a reference actor that always
/// wants a CPU: a change of the share then changes only the speed of that clock. Pure: time is
/// passed in and never goes back. Times in seconds.
class CpuTokens {
 public:
  CpuTokens(double cpus, std::size_t stages);

  /// Adds work that needs `seconds` of CPU from now on.
  void add(WorkItem& work, double seconds);

  /// When the next work ends if no work is added; infinity if no actor wants a CPU.
  double next_end() const;

  /// Advances time to `now`, at most next_end().
  void advance(double now);

  /// Removes the work that ends next and returns it.
  WorkItem& pop();

  void set_cpus(double cpus) { cpus_ = cpus; }
  /// Counts CPU time that a stage used outside of this queue.
  void count(std::size_t stage, double seconds) { used_[stage] += seconds; }

  double cpus() const { return cpus_; }
  std::size_t wanting() const { return queue_.size(); }
  /// The share of a CPU that each actor that wants one has.
  double share() const;
  /// CPU seconds that a stage has used so far, unfinished work included.
  double used(std::size_t stage) const { return used_[stage]; }

 private:
  double cpus_;
  double now_ = 0;
  double shared_ = 0;                       // CPU seconds of the reference actor so far
  std::priority_queue<WaitingWork> queue_;  // ends in CPU seconds of the reference actor
  std::vector<std::size_t> wanting_;        // by stage
  std::vector<double> used_;                // by stage
};

/// Keeps the starts of a stage's work at least 1/max_rate apart; unused starts are not saved up.
/// First in, first out. Pure.
class StartGate {
 public:
  /// Splits/s; 0: no limit. Also applies to the work that waits.
  void set_max_rate(double rate) { gap_ = rate > 0 ? 1 / rate : 0; }

  void add(WorkItem& work) { waiting_.push_back(&work); }

  /// When the next work may start; infinity if no work waits.
  double next_start() const {
    if (waiting_.empty()) return std::numeric_limits<double>::infinity();
    const double begin = waiting_.front()->begin;
    return gap_ > 0 ? std::max(begin, last_start_ + gap_) : begin;
  }

  /// Removes and returns the next work, which starts at next_start().
  /// Removes all waiting work and appends it to `dropped`.
  void drop(std::vector<WorkItem*>& dropped) {
    dropped.insert(dropped.end(), waiting_.begin(), waiting_.end());
    waiting_.clear();
  }

  WorkItem& pop() {
    last_start_ = next_start();
    WorkItem& work = *waiting_.front();
    waiting_.pop_front();
    return work;
  }

 private:
  double gap_ = 0;
  double last_start_ = -std::numeric_limits<double>::infinity();
  std::deque<WorkItem*> waiting_;
};

/// Computes how long the work of a modelled pipeline takes: when the work that an actor has begun
/// ends, given all other work.
///
/// A split's work passes its stage's StartGate, waits (the share off the CPU), then gets its CPU
/// time from the CpuTokens, and ends; the trainer's work only waits. In a model with resources
/// or several nodes the work progresses as SharedWork says instead, and SharedLink says when a
/// split has crossed its node's link. Events of the model happen at their times. Pure and
/// deterministic: times are passed in, in seconds since the start, and never go back. Does not own
/// the work.
///
/// The begin of work may lie a little before the call of begin() (the actor's thread woke late).
/// The elapsed part is made up for, except on CPUs that other actors were using meanwhile.
class VirtualMachine {
 public:
  VirtualMachine(PipelineModel model, std::uint64_t seed);

  /// Adds work whose first half is filled in; it may end in the next advance().
  void begin(WorkItem& work);

  /// Advances time to `now`; appends the work that ended to `ended`, in order.
  void advance(double now, std::vector<WorkItem*>& ended);

  /// When the next event happens: advance() to an earlier time changes nothing.
  double next_due() const;

  /// The model with its past events applied.
  const PipelineModel& model() const { return model_; }
  /// Removes all work of a lost node but the trainer's; appends it to `dropped`.
  void drop(std::size_t node, std::vector<WorkItem*>& dropped);

  /// The trainer's stage number.
  std::size_t trainer() const { return model_.stages.size(); }
  /// Nodes × stages.
  std::size_t lines() const { return gates_.size(); }
  /// CPU seconds used so far, unfinished work included.
  double cpu_seconds(std::size_t line) const {
    return shared_ ? shared_->cpu_seconds(line) : cpus_.used(line);
  }

 private:
  double next_event() const;
  double next_gate() const;
  double next_wait_end() const;
  double next_crossed() const;
  void happen(double due, std::vector<WorkItem*>& ended);
  void apply_model(double at);
  void start_next();
  void end_wait(std::vector<WorkItem*>& ended);
  double drawn(const WorkItem& work);
  void wait(WorkItem& work);
  void cross_link(double at, std::vector<WorkItem*>& ended);
  std::size_t line_of(const WorkItem& work) const {
    return work.node * model_.stages.size() + work.stage;
  }
  double end_of_step(WorkItem& work) const;

  const PipelineModel original_;
  const bool world_;
  WorldState state_;  // Of a world.
  PipelineModel model_;
  NormalSource normal_;
  Random tails_;
  std::vector<LogNormal> noise_;  // by stage
  std::optional<SharedWork> shared_;
  std::vector<SharedLink> links_;  // by node, as the gates
  double now_ = 0;
  std::size_t events_past_ = 0;
  CpuTokens cpus_;
  std::vector<StartGate> gates_;
  std::priority_queue<WaitingWork> waits_;
};

}  // namespace forebay::tuner
