#pragma once

#include <cstddef>
#include <queue>
#include <vector>

#include "tuner/emulated/work_item.h"

namespace forebay::tuner {

/// Virtual CPUs, shared by the actors that want one for their split's work.
///
/// Each CPU is a token, handed round among those that want one in slices too short to see: of n
/// that want one each has min(1, cpus / n) of a token at every moment. So no token idles while
/// somebody wants it, never more than there are is held, and work stretches as under a kernel that
/// shares fairly (processor sharing). Kept in the time of an actor that
/// is always here: work ends there when it is due, whatever the share, so a change of share is one
/// change of speed. Pure: time is handed in and never goes back. Times in seconds.
class CpuTokens {
 public:
  CpuTokens(double cpus, std::size_t stages);

  /// Work that wants `seconds` of CPU from now on.
  void add(WorkItem& work, double seconds);

  /// When the next is done if nobody comes; infinity when nobody wants a CPU.
  double next_end() const;

  /// Moves time to `now`, at most next_end().
  void advance(double now);

  /// Takes out what ends next, as done.
  WorkItem& pop();

  void set_cpus(double cpus) { cpus_ = cpus; }
  /// CPU that a stage has used outside of this queue.
  void count(std::size_t stage, double seconds) { used_[stage] += seconds; }

  double cpus() const { return cpus_; }
  std::size_t wanting() const { return queue_.size(); }
  /// How much of a CPU each of those that want one has.
  double share() const;
  /// CPU seconds that a stage has used so far, unfinished work included.
  double used(std::size_t stage) const { return used_[stage]; }

 private:
  struct Waiting {
    double end = 0;  ///< In CPU seconds of an actor that is always here.
    WorkItem* work = nullptr;
    bool operator<(const Waiting& other) const { return end > other.end; }
  };

  double cpus_;
  double now_ = 0;
  double shared_ = 0;  // CPU seconds that an actor that is always here has had
  std::priority_queue<Waiting> queue_;
  std::vector<std::size_t> wanting_;  // by stage
  std::vector<double> used_;          // by stage
};

}  // namespace forebay::tuner
