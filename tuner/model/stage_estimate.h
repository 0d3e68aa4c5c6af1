#pragma once

#include <optional>
#include <vector>

#include "tuner/model/contention_fit.h"
#include "tuner/model/rate_limit.h"
#include "tuner/model/settling.h"
#include "tuner/plan/plan.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The estimate of one stage: its law of service times, share of CPU, noise, and rate limit.
///
/// The share of a split's time on a CPU tells two limits apart: contention stretches CPU time and
/// waiting alike; a disk or link at its limit adds waiting only. If fewer actors then complete
/// fewer splits, there was no rate limit: the stage's own waiting has grown. So it has if splits
/// wait long though actors are idle: a limit keeps all of them waiting. A value.
class StageEstimate {
 public:
  /// Adds an interval. `stage.done` may be 0.
  void observe(const StageObservation& stage, double seconds);

  /// Doubts the belief about contention, but not the time that splits take with `actors`, until
  /// conclude().
  void question(double actors);
  /// Goes back to the belief before question() unless the intervals since then speak against it;
  /// returns whether they do, or did against a rate limit.
  bool conclude();

  /// Whether a split was ever completed.
  bool seen() const { return fit_.seen(); }
  /// Whether the last interval showed that the stage's work has changed.
  bool changed() const { return changed_; }

  StageCost mean() const { return completed(fit_.mean()); }
  /// The cost if what the last splits waited for, beyond their work, was no rate limit but answers,
  /// for which more actors wait side by side.
  StageCost if_latency() const { return {.seconds = wall_, .cpu = wall_ > 0 ? cpu_ / wall_ : 1}; }
  StageCost sample(double u) const { return completed(fit_.sample(u)); }
  /// Coefficient of variation of the service time from split to split.
  double noise() const;
  double spread(double actors) const { return fit_.spread(actors); }
  /// The probability that splits take more than `times` as long with `actors` as with one.
  double risk(double actors, double times) const { return fit_.risk(actors, times); }
  /// Mean number of actors at the begin of the splits last completed; 0: no split was completed.
  double measured_actors() const { return measured_actors_; }
  /// Longest time of work without a completed split; a bound while !seen().
  double unfinished_seconds() const { return unfinished_; }

  std::vector<double> save() const;
  bool restore(const std::vector<double>& saved);

 private:
  /// Splits that were completed in some work, by a given number of actors.
  struct Count {
    double actors = 0;
    double work = 0;      ///< Seconds.
    double believed = 0;  ///< Seconds that those completed in it should have taken.
  };

  StageCost completed(StageCost cost) const;
  double intrinsic_seconds(const StageObservation& stage, const Served& served);
  std::optional<double> seconds_by_cpu(const Served& served) const;
  bool lacks_explanation(const StageObservation& stage, const Served& served);
  void observe_none(const StageObservation& stage, double seconds);
  void outlast(double alive);
  bool outgrown(double alive) const;
  void fit(const StageObservation& stage, const Served& served, double intrinsic);
  void renew(double actors, double seconds, double variance);
  void count(const StageObservation& stage, double seconds, bool limited);
  void observe_noise(const StageObservation& stage, double mean);

  ContentionFit fit_;
  std::optional<ContentionFit> questioned_;  // the belief that fit_ doubts
  RateLimit limit_;
  Settling settling_;
  double cpu_share_ = 0;
  double unexplained_ = 0;      // seconds in which splits waited long though actors were idle
  double usual_share_ = 0;      // of CPU before; while not 0, all waiting is the stage's own
  double wall_ = 0;             // seconds of the splits last completed, without waiting for a CPU
  double cpu_ = 0;              // of those, on a CPU
  bool limit_refuted_ = false;  // since question()
  double measured_actors_ = 0;
  double noise_sum_ = 0;
  double noise_weight_ = 0;
  double unfinished_ = 0;
  double unfinished_actors_ = 0;  // the most that were alive in that time
  bool changed_ = false;
  Count count_;
};

}  // namespace forebay::tuner
