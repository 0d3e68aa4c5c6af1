#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <limits>
#include <queue>
#include <vector>

#include "tuner/emulated/cpu_tokens.h"
#include "tuner/emulated/work_item.h"
#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

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
/// time from the CpuTokens, and ends; the trainer's work only waits. Events of the model happen at
/// their times. Pure and deterministic: times are passed in, in seconds since the start, and never
/// go back. Does not own the work.
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
  /// CPU seconds used so far, unfinished work included.
  double cpu_seconds(std::size_t stage) const { return cpus_.used(stage); }

 private:
  struct Waiting {
    double end = 0;
    WorkItem* work = nullptr;
    bool operator<(const Waiting& other) const { return end > other.end; }
  };

  double next_event() const;
  double next_gate() const;
  double next_wait_end() const;
  void happen(double due, std::vector<WorkItem*>& ended);
  void apply_model(double at);
  void start_next();
  void end_wait(std::vector<WorkItem*>& ended);

  const PipelineModel original_;
  PipelineModel model_;
  NormalSource normal_;
  std::vector<LogNormal> noise_;  // by stage
  double now_ = 0;
  std::size_t events_past_ = 0;
  CpuTokens cpus_;
  std::vector<StartGate> gates_;
  std::priority_queue<Waiting> waits_;
};

}  // namespace forebay::tuner
