#pragma once

#include <algorithm>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/model/contention_fit.h"
#include "tuner/plan/plan.h"
#include "tuner/tuned_pipeline.h"

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

/// The ratio of a pipeline's loss to noise and the formula's prediction, learned from the measured
/// rates of allocations.
///
/// The measured losses divided by the predicted losses, both summed with slow forgetting, so that
/// one noisy interval has little weight. A value.
class LossScale {
 public:
  /// Adds an interval whose allocation did not change. Both losses are shares of the noise-free
  /// rate; `predicted` is at scale 1.
  void observe(double predicted, double measured) {
    predicted_ = kMemory * predicted_ + std::max(predicted, kLeast);
    measured_ = kMemory * measured_ + std::clamp(measured, -kMost, kMost);
  }
  /// The factor for the formula's losses.
  double value() const {
    return std::clamp((measured_ + 3 * kPrior) / (predicted_ + kPrior), kSmallest, kLargest);
  }

 private:
  static constexpr double kMemory = 0.97;  // per interval
  static constexpr double kPrior = 0.02;   // prior: this much loss, at three times the prediction
  static constexpr double kLeast = 0.0005;
  static constexpr double kMost = 0.2;  // a larger loss is not noise
  static constexpr double kSmallest = 0.5;
  static constexpr double kLargest = 20;

  double predicted_ = 0;
  double measured_ = 0;
};

/// The estimate of a whole pipeline: its stages, and the fastest rate of its trainer. A value.
class PipelineEstimate {
 public:
  explicit PipelineEstimate(const PipelineDescription& description);

  void observe(const Observation& seen);

  const std::vector<StageEstimate>& stages() const { return stages_; }
  /// Splits/s the trainer takes when it never waits; 0: not known yet.
  double trainer_rate() const { return trainer_rate_; }
  /// CPUs left for the stages if the work outside them (the trainer's) goes on as before.
  double cpus() const { return cpus_; }
  /// Whether the last interval showed other work, another trainer or another machine than before.
  bool changed() const { return changed_; }

  /// The measured loss to noise relative to the formula's (expected_rate).
  double loss_scale() const { return loss_scale_.value(); }
  /// The share by which the measured rate falls short of the rate that the costs allow, while the
  /// allocation does not change; 0 after a change.
  double shortfall() const { return shortfall_; }
  /// Best estimate of every stage's cost, including stages that completed no split so far.
  std::vector<StageCost> mean() const;
  /// One possible world: each stage's cost at a quantile drawn from its own hypotheses.
  std::vector<StageCost> sample(std::uint64_t number) const;

  std::vector<std::vector<double>> save() const;
  bool restore(const std::vector<std::vector<double>>& saved);

 private:
  double seconds_since_last(const Observation& seen);
  void observe_trainer(const Observation& seen);
  void observe_loss(const Observation& seen);
  StageCost guess(std::size_t stage) const;

  std::vector<StageEstimate> stages_;
  double trainer_rate_ = 0;
  double cpus_ = 0;
  Limits limits_{.cpus = 0};  // 0: no interval was seen
  bool changed_ = false;
  LossScale loss_scale_;
  double at_seconds_ = 0;  // of the last observation
  double others_ = 0;      // CPUs used outside the stages
  double shortfall_ = 0;
  std::vector<std::uint32_t> stood_;  // actors of the previous interval
  int unchanged_intervals_ = 0;       // intervals since stood_ or the work changed
};

}  // namespace forebay::tuner
