#pragma once

#include <memory>

#include "core/base/clock.h"
#include "tuner/decision.h"
#include "tuner/policy.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Applies a policy to a modelled pipeline without a guard, as rival policies were designed to run:
/// every allocation with at least one actor per stage is applied, even if it does not fit.
class Unguarded {
 public:
  /// `clock` measures the time of a decision; both references outlive this object.
  Unguarded(TunedPipeline& tuned_pipeline, std::unique_ptr<Policy> policy, const Clock& clock);

  /// Observes, asks the policy and applies its proposal. If the policy throws or proposes no valid
  /// allocation, the decision records the fault and the current allocation stays.
  Decision decide();

 private:
  TunedPipeline& tuned_pipeline_;
  std::unique_ptr<Policy> policy_;
  const Clock& clock_;
};

}  // namespace forebay::tuner
