#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "tuner/agent/features.h"
#include "tuner/agent/network.h"
#include "tuner/allocation.h"

namespace forebay::tuner {

/// The network's actions around the model's base: one step per stage, and one for prefetch.
///
/// A row of outputs has the advantage of each action over keeping the base, in per cent of the
/// reward; keeping the base has advantage 0 by definition. The advantages of prefetch are the mean
/// over the stages' rows.
inline constexpr std::array<int, 5> kSteps{0, -5, -1, +1, +5};
inline constexpr std::size_t kStepOutputs = kSteps.size() - 1;
inline constexpr std::array<double, 3> kPrefetchFactors{1, 0.5, 2};
inline constexpr std::size_t kOutputs = kStepOutputs + kPrefetchFactors.size() - 1;
using Outputs = std::array<float, kOutputs>;

/// The selected action of each branch; 0 keeps the base.
struct Actions {
  std::vector<std::uint8_t> steps;
  std::uint8_t prefetch = 0;
  friend bool operator==(const Actions&, const Actions&) = default;
};

/// Selects the actions with the largest advantage, if it is at least `margin`. An action of
/// `current` (empty: no actions) is kept unless another is better by `margin`, so that small gains
/// cause no change.
Actions best_actions(std::span<const Outputs> outputs, const Actions& current, float margin);

/// Applies the actions to `base`, within each stage's bounds. If memory does not suffice, prefetch
/// is cut first; then, or if there would be too many actors, the last stages keep their base.
Allocation applied(const PipelineDescription& description, const Limits& limits,
                   const Allocation& base, const Actions& actions);

}  // namespace forebay::tuner
