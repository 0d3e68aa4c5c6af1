#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tuner/agent/features.h"
#include "tuner/agent/network.h"
#include "tuner/allocation.h"

namespace forebay::tuner {

/// The network's actions around the model's base: per stage a step, and one for prefetch.
///
/// A row of outputs has the advantage of each action over leaving the base as it is, in per cent of
/// the reward; leaving it is 0 by definition. Prefetch's are the mean over the stages' rows.
inline constexpr std::array<int, 5> kSteps{0, -5, -1, +1, +5};
inline constexpr std::size_t kStepOutputs = kSteps.size() - 1;
inline constexpr std::array<double, 3> kPrefetchFactors{1, 0.5, 2};
inline constexpr std::size_t kOutputs = kStepOutputs + kPrefetchFactors.size() - 1;
using Outputs = std::array<float, kOutputs>;

/// Which action of each branch; 0 leaves the base.
struct Actions {
  std::vector<std::uint8_t> steps;
  std::uint8_t prefetch = 0;
  friend bool operator==(const Actions&, const Actions&) = default;
};

/// The actions with the largest advantage, where it is at least `margin`. `current` ones (empty:
/// none) are kept unless another is better by `margin`: what is not worth moving stays.
Actions best_actions(std::span<const Outputs> outputs, const Actions& current, float margin);

/// `base` with the actions taken, within each stage's bounds; where memory does not suffice
/// prefetch is cut, then, or where there would be too many actors, the last stages stay as they
/// were.
Allocation applied(const PipelineDescription& description, const Limits& limits,
                   const Allocation& base, const Actions& actions);

}  // namespace forebay::tuner
