#pragma once

#include <span>

#include "tuner/plan/plan.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Returns `seen` with implausible values replaced: numbers that are not finite or negative, parts
/// larger than their whole, stages that are missing or surplus. The model then accepts the report
/// of any tuned pipeline.
Observation plausible(const PipelineDescription& description, Observation seen);

/// The conditions under which an allocation runs.
struct RateConditions {
  double cpus = 1;
  double trainer_rate = 0;  ///< Splits/s; 0: unlimited.
  double loss_scale = 1;    ///< Multiplies the losses to noise (LossScale).
};

/// Splits/s to expect from an allocation when service times vary from split to split.
///
/// The noise-free steady rate less two losses; both are estimates whose constants were fitted to
/// simulated pipelines. First, a stage that is only just fast enough starves its neighbours at
/// times: the two-barrier diffusion of a buffer (Harrison, Brownian Motion and Stochastic Flow
/// Systems, 1985). Second, CPUs are idle at times although the machine is the limit, if few more
/// actors than CPUs want one: the normal loss function of the number of these actors.
double expected_rate(std::span<const StageCost> costs, std::span<const double> noise,
                     std::span<const std::uint32_t> actors, const RateConditions& given);

/// The same from `steady`, the noise-free steady rate of these actors.
double less_losses(double steady, std::span<const StageCost> costs, std::span<const double> noise,
                   std::span<const std::uint32_t> actors, const RateConditions& given);

}  // namespace forebay::tuner
