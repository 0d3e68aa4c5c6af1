#pragma once

#include <cstddef>
#include <queue>
#include <vector>

#include "tuner/emulated/work_item.h"

namespace forebay::tuner {

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
  struct Waiting {
    double end = 0;  ///< In CPU seconds of the reference actor.
    WorkItem* work = nullptr;
    bool operator<(const Waiting& other) const { return end > other.end; }
  };

  double cpus_;
  double now_ = 0;
  double shared_ = 0;  // CPU seconds of the reference actor so far
  std::priority_queue<Waiting> queue_;
  std::vector<std::size_t> wanting_;  // by stage
  std::vector<double> used_;          // by stage
};

}  // namespace forebay::tuner
