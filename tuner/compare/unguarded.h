#pragma once

#include <memory>

#include "core/base/clock.h"
#include "tuner/decision.h"
#include "tuner/policy.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Lets a policy at a modelled pipeline without a guard, as rivals were meant to run: whatever is
/// an allocation at all is applied, one that does not fit included.
class Unguarded {
 public:
  /// `clock` measures what deciding takes; both references outlive this.
  Unguarded(TunedPipeline& tuned_pipeline, std::unique_ptr<Policy> policy, const Clock& clock);

  /// Observes, asks, applies. What was thrown or is no allocation is the decision's fault, and what
  /// stands stays.
  Decision decide();

 private:
  TunedPipeline& tuned_pipeline_;
  std::unique_ptr<Policy> policy_;
  const Clock& clock_;
};

}  // namespace forebay::tuner
