#pragma once

#include <vector>

#include "tuner/model/contention_fit.h"
#include "tuner/observation.h"
#include "tuner/plan/cost.h"

namespace forebay::tuner {

/// The estimate of one stage: its law of service times, share of CPU, noise, and rate limit.
///
/// The share of a split's time on a CPU tells two limits apart: contention stretches CPU time and
/// waiting alike; a disk or link at its limit adds waiting only. If fewer actors then complete
/// fewer splits, there was no rate limit: the stage's own waiting has grown. A value.
class StageEstimate {
 public:
  /// Adds an interval. `stage.done` may be 0.
  void observe(const StageObservation& stage, double seconds);

  /// Whether a split was ever completed.
  bool seen() const { return fit_.seen(); }
  /// Whether the last interval showed that the stage's work has changed.
  bool changed() const { return changed_; }

  StageCost mean() const { return completed(fit_.mean()); }
  StageCost sample(double u) const { return completed(fit_.sample(u)); }
  /// Coefficient of variation of the service time from split to split.
  double noise() const;
  double spread(double actors) const { return fit_.spread(actors); }
  /// Mean number of actors at the begin of the splits last completed; 0: no split was completed.
  double measured_actors() const { return measured_actors_; }
  /// Longest time of work without a completed split; a bound while !seen().
  double unfinished_seconds() const { return unfinished_; }

  std::vector<double> save() const;
  bool restore(const std::vector<double>& saved);

 private:
  StageCost completed(StageCost cost) const;
  void observe_noise(const StageObservation& stage, double mean);

  ContentionFit fit_;
  double cpu_share_ = 0;
  double max_rate_ = 0;         // 0: no limit seen
  double limited_actors_ = 0;   // actors with which the limit was seen
  double limited_seconds_ = 0;  // seconds of a split at that time
  double measured_actors_ = 0;
  double noise_sum_ = 0;
  double noise_weight_ = 0;
  double unfinished_ = 0;
  bool changed_ = false;
};

}  // namespace forebay::tuner
