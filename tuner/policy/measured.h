#pragma once

#include <cstdint>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/plan/plan.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The cost of a split in one stage, as its actors measured it: sums over `splits` splits. Finite
/// and not negative for any observation.
struct Work {
  double splits = 0;
  double wall_seconds = 0;   ///< Service, including waits for a CPU.
  double ready_seconds = 0;  ///< Waits for a CPU.
  double cpu_seconds = 0;    ///< Time on a CPU.
  double squares = 0;        ///< Sum of squares of the service times without waits for a CPU.

  bool seen() const { return splits > 0 && wall_seconds > 0; }
  /// Means, in seconds a split; require seen().
  double wall() const { return wall_seconds / splits; }
  double service() const { return (wall_seconds - ready_seconds) / splits; }
  double cpu() const { return cpu_seconds / splits; }
  /// Coefficient of variation of one service time.
  double variation() const;

  void add(const Work& more);
  void forget(double kept);
};

/// The work of a stage in an interval; empty if the observation has no such stage.
Work work_of(const Observation& seen, std::size_t stage);

/// Splits/s that the trainer takes when data is ready, as it measured; 0: it took none.
double trainer_rate_of(const Observation& seen);

/// CPUs the machine grants now, at least 1 and finite.
double cpus_of(const Limits& limits);
std::uint32_t whole_cpus_of(const Limits& limits);

/// The current allocation in the shape of this description, for any observation.
Allocation current_allocation_of(const PipelineDescription& description, const Observation& seen);

/// Keeps the costs of stages over intervals, for policies that plan with them.
///
/// Older intervals are weighted by `kept` per interval. If an interval differs from the kept mean
/// by more than chance explains, the work has changed, and all older intervals are dropped. An
/// interval in which a stage completed no split leaves the costs unchanged, and shows that a split
/// takes at least as long as its actors have been at it.
class Measured {
 public:
  /// `kept` from 0 (the last interval that completed something) to 1 (everything since the start).
  Measured(std::size_t stages, double kept);

  void add(const Observation& seen);

  /// Whether every stage has completed a split.
  bool all_seen() const;
  /// Whether any stage has completed a split.
  bool any_seen() const;
  const Work& stage(std::size_t i) const { return stages_[i].work; }
  /// Time of an actor of stage i for a split, without waits for a CPU. For a stage that has
  /// completed none: the larger of its actors' time at it so far and the mean of the others; 0 if
  /// no stage has completed one.
  double service(std::size_t i) const;
  /// The part of service() on a CPU; all of it if nothing is known.
  double cpu(std::size_t i) const;
  /// The last measured trainer rate; 0: none, or the trainer took splits and worked in none of the
  /// time: it only waited, so no rate of its own is known to bound it.
  double trainer_rate() const { return trainer_rate_; }
  /// Costs without contention for a planner, from `service` and `cpu` above.
  std::vector<StageCost> costs() const;

 private:
  struct Stage {
    Work work;
    double unfinished = 0;  // seconds that an actor has worked since a split was completed
  };

  std::vector<Stage> stages_;
  double kept_;
  double trainer_rate_ = 0;
};

}  // namespace forebay::tuner
