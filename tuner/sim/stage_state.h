#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "tuner/sim/noise.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A split in work.
struct Service {
  double work = 0;     ///< Seconds it takes with CPUs for all.
  double taken = 0;    ///< When its actor took it.
  double started = 0;  ///< When its actor began it: later if starts are spaced.
  std::uint32_t actors = 0;
};

/// The splits in work in one stage, the next to end on top: a binary heap of (end on the stage's
/// clock, slot). reserve() allocates; no other method does.
template <class Service>
class WorkHeap {
 public:
  void reserve(std::size_t actors) {
    if (actors <= slots_.size()) return;
    for (std::size_t slot = slots_.size(); slot < actors; ++slot) {
      free_.push_back(static_cast<std::uint32_t>(slot));
    }
    slots_.resize(actors);
    heap_.reserve(actors);
  }

  bool empty() const { return heap_.empty(); }
  std::size_t size() const { return heap_.size(); }
  double top_end() const { return heap_.front().end; }
  const Service& top() const { return slots_[heap_.front().slot]; }

  void push(double end, const Service& service) {
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot] = service;
    heap_.emplace_back();
    rise(heap_.size() - 1, {end, slot});
  }
  void replace_top(double end, const Service& service) {
    const std::uint32_t slot = heap_.front().slot;
    slots_[slot] = service;
    sink({end, slot});
  }
  void pop() {
    free_.push_back(heap_.front().slot);
    const Entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
  }

  /// Sum of the work done so far in all splits when the stage's clock shows `clock`.
  double progress(double clock) const {
    double sum = 0;
    for (const Entry& entry : heap_) sum += slots_[entry.slot].work - (entry.end - clock);
    return sum;
  }

 private:
  struct Entry {
    double end = 0;
    std::uint32_t slot = 0;
  };

  void rise(std::size_t at, Entry entry) {
    for (; at > 0 && entry.end < heap_[(at - 1) / 2].end; at = (at - 1) / 2) {
      heap_[at] = heap_[(at - 1) / 2];
    }
    heap_[at] = entry;
  }
  void sink(Entry entry) {
    const std::size_t size = heap_.size();
    std::size_t at = 0;
    for (std::size_t child = 1; child < size; child = 2 * at + 1) {
      if (child + 1 < size && heap_[child + 1].end < heap_[child].end) ++child;
      if (!(heap_[child].end < entry.end)) break;
      heap_[at] = heap_[child];
      at = child;
    }
    heap_[at] = entry;
  }

  std::vector<Entry> heap_;
  std::vector<Service> slots_;
  std::vector<std::uint32_t> free_;
};

using ServiceHeap = WorkHeap<Service>;

/// The integral over an interval of a number that changes by one. Times are seconds since the
/// interval's start.
class TimeSum {
 public:
  void up(double at) { sum_ -= at; }
  void down(double at) { sum_ += at; }
  /// The integral up to `at`; `number` is the current number.
  double until(double at, std::uint64_t number) const {
    return sum_ + static_cast<double>(number) * at;
  }
  void restart() { sum_ = 0; }

 private:
  double sum_ = 0;
};

/// One stage: its actors by state, the queue after it, and the sums of the interval.
///
/// Waiting actors are alike, so only their number is kept; actors at work are in the heap. The last
/// stage's queue is the prefetch.
struct StageState {
  explicit StageState(const StageModel& stage);

  void set_alive(std::uint32_t number, double at);
  /// Updates the mean after a change of the number of actors or of the model.
  void update_mean() { mean = cost.seconds_with(alive); }
  std::uint32_t staying() const { return alive - leaving; }

  /// Adds a split that has ended to the sums.
  void record(const Service& service, double now) {
    const double elapsed = now - service.taken;
    // The stretch is the time beyond the work; rounding may make it slightly negative.
    const double ready = std::max(0.0, now - service.started - service.work);
    ++sums.done;
    sums.done_actors += service.actors;
    sums.done_seconds += elapsed;
    sums.done_seconds_squared += (elapsed - ready) * (elapsed - ready);
    sums.done_ready_seconds += ready;
    done_work += service.work;
  }
  /// The observation of an interval; `at` is its length, `clock` the stage's clock.
  StageObservation observation(double at, double clock) const;
  double cpu_seconds(double clock) const;
  void restart(double clock);

  StageCost cost;
  LogNormal noise;
  double gap = 0;   // Least time between two starts.
  double mean = 0;  // Of a service that starts now.
  std::uint64_t bytes_per_actor;
  std::uint64_t bytes_out;

  std::uint32_t alive = 0;    // Leaving actors included.
  std::uint32_t leaving = 0;  // Asked to leave: the next actors that put out their split do.
  std::uint32_t exempt = 0;   // Of those, asked before a lowered limit came into force.
  std::uint32_t idle = 0;     // Waiting for input.
  std::uint32_t blocked = 0;  // Waiting with a finished split for space in the queue.
  std::uint32_t queued = 0;   // Splits in the queue after this stage.
  std::uint32_t capacity = 0;
  ServiceHeap in_work;
  std::deque<double> not_started;  // When the actors that wait for their start took their split.
  double last_start = -std::numeric_limits<double>::infinity();

  TimeSum alive_time;
  TimeSum idle_time;
  TimeSum blocked_time;
  TimeSum queued_time;
  StageObservation sums;  // The `done` fields but for CPU time, of the splits that have ended.
  double done_work = 0;
  double progress_before = 0;  // Of the splits in work when the interval began.
};

}  // namespace forebay::tuner
