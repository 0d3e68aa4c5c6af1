#pragma once

#include <vector>

#include "tuner/model/loss_scale.h"
#include "tuner/model/stage_estimate.h"
#include "tuner/observation.h"
#include "tuner/pipeline_description.h"

namespace forebay::tuner {

/// What is known of a whole pipeline: its stages, and how fast its trainer could go. A value.
class PipelineEstimate {
 public:
  explicit PipelineEstimate(const PipelineDescription& description);

  void observe(const Observation& seen);

  const std::vector<StageEstimate>& stages() const { return stages_; }
  /// Splits/s the trainer takes when it never waits; 0: not known yet.
  double trainer_rate() const { return trainer_rate_; }
  /// CPUs left for the stages when those outside them (the trainer's) go on as they did.
  double cpus() const { return cpus_; }
  /// Whether the last interval showed other work, another trainer or another machine than before.
  bool changed() const { return changed_; }

  /// What noise takes here, against what the formula says (expected_rate).
  double loss_scale() const { return loss_scale_.value(); }
  /// By how much less comes than the costs allow, as a share, while the allocation stands; 0 after
  /// a change.
  double shortfall() const { return shortfall_; }
  /// Best guess of every stage's cost, also of those that completed nothing so far.
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
  Limits limits_{.cpus = 0};  // no interval was seen
  bool changed_ = false;
  LossScale loss_scale_;
  double at_seconds_ = 0;  // of the last observation
  double others_ = 0;      // CPUs that others than the stages use
  double shortfall_ = 0;
  std::vector<std::uint32_t> stood_;  // actors of the interval before
  int unchanged_intervals_ = 0;       // intervals since they or the work changed
};

}  // namespace forebay::tuner
