#pragma once

#include <cstdint>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/observation.h"
#include "tuner/plan/cost.h"

namespace forebay::tuner {

/// What a split costs in one stage, as its actors measured it: sums over `splits` of them. Finite
/// and not negative whatever was observed.
struct Work {
  double splits = 0;
  double wall_seconds = 0;   ///< Service, a wait for a CPU included,
  double ready_seconds = 0;  ///< that wait,
  double cpu_seconds = 0;    ///< and the time on a CPU.
  double squares = 0;        ///< Of the services without that wait.

  bool seen() const { return splits > 0 && wall_seconds > 0; }
  /// Means, in seconds a split; only where seen().
  double wall() const { return wall_seconds / splits; }
  double service() const { return (wall_seconds - ready_seconds) / splits; }
  double cpu() const { return cpu_seconds / splits; }
  /// Coefficient of variation of one service time.
  double variation() const;

  void add(const Work& more);
  void forget(double kept);
};

/// What a stage did in an interval; nothing where the observation has no such stage.
Work work_of(const Observation& seen, std::size_t stage);

/// Splits/s the trainer takes when data is there, by what it measured; 0: it took none.
double trainer_rate_of(const Observation& seen);

/// CPUs the machine grants now, at least 1 and finite.
double cpus_of(const Limits& limits);
std::uint32_t whole_cpus_of(const Limits& limits);

/// What stands, as an allocation of this layout whatever was observed.
Allocation current_allocation_of(const PipelineDescription& description, const Observation& seen);

/// Keeps what stages cost over intervals, for policies that plan with it.
///
/// Older intervals fade by `kept` an interval. When an interval is further from what is kept than
/// chance explains, the work has changed, and what is older than that interval is dropped. An
/// interval in which a stage completed nothing leaves what is known, and shows that a split takes
/// at least as long as its actors have been at it.
class Measured {
 public:
  /// `kept` from 0 (the last interval that completed something) to 1 (everything since the start).
  Measured(std::size_t stages, double kept);

  void add(const Observation& seen);

  /// Whether every stage has completed a split.
  bool all_seen() const;
  /// Whether any has.
  bool any_seen() const;
  const Work& stage(std::size_t i) const { return stages_[i].work; }
  /// What an actor of stage i takes for a split, a wait for a CPU left out. Of a stage that has
  /// completed none: as long as its actors have been at it, or the mean of the others, whichever is
  /// more; 0 when nobody has completed one.
  double service(std::size_t i) const;
  /// What of that is on a CPU; where nothing is known, all.
  double cpu(std::size_t i) const;
  /// The last trainer rate that was measured; 0: none.
  double trainer_rate() const { return trainer_rate_; }
  /// Costs without contention as a planner takes them; of `service` and `cpu` above.
  std::vector<StageCost> costs() const;

 private:
  struct Stage {
    Work work;
    double unfinished = 0;  // seconds an actor has been at a split since one was completed
  };

  std::vector<Stage> stages_;
  double kept_;
  double trainer_rate_ = 0;
};

}  // namespace forebay::tuner
