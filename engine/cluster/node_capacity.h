#pragma once

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// What a worker's stages did in an interval, and how many splits left them.
struct StageWork {
  const tuner::Observation& seen;
  double splits = 0;
  /// The share of the interval in which the node had as much work as it takes.
  double busy = 0;
};

/// Estimates the rate at which a node could make splits, whatever it was asked for: from the
/// seconds of an actor and of a CPU that a split takes in each stage, for the best allocation that
/// the node's actors and CPUs allow.
///
/// A node that was busy for some intervals with one allocation shows what that sum misses
/// (contention, a disk at its limit): from then on the estimate is scaled by what it really made.
/// Belongs to the tuner's thread; splits_per_second() to any thread.
class NodeCapacity {
 public:
  /// The share of the sum that a node is taken to reach before it was seen.
  static constexpr double kUsuallyReached = 0.92;

  /// `tuned`: a tuner moves the node's actors between its stages; if not, the actors stay.
  NodeCapacity(tuner::PipelineDescription description, bool tuned)
      : description_(std::move(description)), tuned_(tuned) {}

  void observe(const StageWork& work);

  /// Splits per second; 0: not known yet.
  double splits_per_second() const { return rate_.load(std::memory_order_relaxed); }

 private:
  /// Sums over the intervals, with forgetting.
  struct Costs {
    double splits = 0;
    double cpu_seconds = 0;            // of all stages, and outside them
    std::vector<double> work_seconds;  // of an actor, by stage; without waiting for a CPU
  };

  void add(const StageWork& work);
  double predicted(const tuner::Observation& seen) const;
  bool feasible(double rate, const tuner::Observation& seen) const;
  void compare(const StageWork& work, double predicted);

  const tuner::PipelineDescription description_;
  const bool tuned_;
  Costs costs_;
  double reached_ = kUsuallyReached;  // the share of the prediction that the node reaches
  std::vector<std::uint32_t> actors_;
  int same_ = 0;  // intervals in which the node was busy and its actors did not change
  std::atomic<double> rate_{0};
};

}  // namespace forebay
