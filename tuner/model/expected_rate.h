#pragma once

#include <span>

#include "tuner/plan/cost.h"

namespace forebay::tuner {

/// What an allocation has to work with.
struct RateConditions {
  double cpus = 1;
  double trainer_rate = 0;  ///< Splits/s; 0: as many as come.
  double loss_scale = 1;    ///< Multiplies what noise takes (LossScale).
};

/// Splits/s that can be expected of an allocation when service times vary from split to split.
///
/// The noise-free steady rate less two losses, both of them estimates whose constants were fitted
/// to simulated pipelines. A stage that is only just fast enough starves its neighbours at times:
/// the two-barrier diffusion of a buffer (Harrison, Brownian Motion and Stochastic Flow Systems,
/// 1985). And CPUs idle at times although the machine is the limit, when few actors beyond them
/// want one: the normal loss function of how many do.
double expected_rate(std::span<const StageCost> costs, std::span<const double> noise,
                     std::span<const std::uint32_t> actors, const RateConditions& given);

}  // namespace forebay::tuner
