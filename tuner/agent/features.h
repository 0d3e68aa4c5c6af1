#pragma once

#include <array>
#include <vector>

#include "tuner/model/planner.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// The network's input for one stage: the stage's own features, then those of the whole pipeline.
inline constexpr std::size_t kStageFeatures = 20;
inline constexpr std::size_t kPipelineFeatures = 18;
inline constexpr std::size_t kFeatures = kStageFeatures + kPipelineFeatures;
using Features = std::array<float, kFeatures>;

/// All numbers are scaled to about [-1, 1] (shares and logarithms), so that one set of weights
/// serves pipelines of any size. One row per stage. Another order of the stages changes only the
/// feature of the stage's position.
///
/// `base` is the model's plan, around which the network steps.
std::vector<Features> features_of(const PipelineDescription& description, const Observation& seen,
                                  const PipelineEstimate& known, const Planned& base);

}  // namespace forebay::tuner
