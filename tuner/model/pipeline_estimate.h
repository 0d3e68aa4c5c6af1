#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/model/stage_estimate.h"
#include "tuner/plan/plan.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

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

  /// Doubts what is believed about a stage beyond its measurements with `actors`.
  void question(std::size_t stage, double actors) { stages_[stage].question(actors); }
  /// Ends the doubt; returns whether it was right.
  bool conclude(std::size_t stage) { return stages_[stage].conclude(); }

  const std::vector<StageEstimate>& stages() const { return stages_; }
  /// Splits/s the trainer takes when it never waits; 0: not known yet.
  double trainer_rate() const { return trainer_rate_; }
  /// CPUs left for the stages if the work outside them (the trainer's) goes on as before.
  double cpus() const { return cpus_; }
  /// Whether the last interval showed other work, another trainer or another machine than before.
  bool changed() const { return changed_; }
  /// The length of a period, pauses included, over the two seconds that are usual; at most 1. What
  /// is tried takes times for two seconds, times this: a job with shorter periods wants to see it
  /// sooner.
  double pace() const { return pace_; }

  /// The measured loss to noise relative to the formula's (expected_rate).
  double loss_scale() const { return loss_scale_.value(); }
  /// The share by which the measured rate falls short of the rate that the costs allow, while the
  /// allocation does not change; 0 after a change.
  double shortfall() const { return shortfall_; }
  /// Best estimate of every stage's cost, including stages that completed no split so far.
  std::vector<StageCost> mean() const;
  /// Splits/s that the costs allow so many actors, by stage, on the CPUs that are left.
  double allowed_rate(std::span<const std::uint32_t> actors) const;
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
  double pace_ = 1;
  double others_ = 0;  // CPUs used outside the stages
  double shortfall_ = 0;
  std::vector<std::uint32_t> stood_;  // actors of the previous interval
  int unchanged_intervals_ = 0;       // intervals since stood_ or the work changed
};

}  // namespace forebay::tuner
