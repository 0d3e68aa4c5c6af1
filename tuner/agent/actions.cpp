#include "tuner/agent/actions.h"

#include <algorithm>

namespace forebay::tuner {
namespace {

bool fits(const PipelineDescription& description, const Limits& limits,
          const Allocation& allocation) {
  return worst_case_bytes(description, allocation) <= limits.memory_bytes &&
         (description.max_actors == 0 || allocation.total_actors() <= description.max_actors);
}

// Index of the best of `advantages` plus one, or `current` if no advantage exceeds its value by
// more than `margin`.
std::uint8_t best_of(std::span<const float> advantages, std::uint8_t current, float margin) {
  const auto value = [&](std::size_t action) { return action == 0 ? 0 : advantages[action - 1]; };
  std::size_t best = current;
  for (std::size_t action = 0; action <= advantages.size(); ++action) {
    if (value(action) > value(best) + (best == current ? margin : 0)) best = action;
  }
  return static_cast<std::uint8_t>(best);
}

}  // namespace

Actions best_actions(std::span<const Outputs> outputs, const Actions& current, float margin) {
  Actions best{.steps = std::vector<std::uint8_t>(outputs.size(), 0)};
  std::array<float, kPrefetchFactors.size() - 1> prefetch{};
  const bool stands = current.steps.size() == outputs.size();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::span<const float> row(outputs[i]);
    best.steps[i] = best_of(row.first(kStepOutputs), stands ? current.steps[i] : 0, margin);
    for (std::size_t p = 0; p < prefetch.size(); ++p) {
      prefetch[p] += row[kStepOutputs + p] / static_cast<float>(outputs.size());
    }
  }
  best.prefetch = best_of(prefetch, stands ? current.prefetch : std::uint8_t{0}, margin);
  return best;
}

Allocation applied(const PipelineDescription& description, const Limits& limits,
                   const Allocation& base, const Actions& actions) {
  Allocation stepped = base;
  for (std::size_t i = 0; i < stepped.actors.size(); ++i) {
    const auto wanted = static_cast<std::int64_t>(base.actors[i]) + kSteps[actions.steps[i]];
    const std::int64_t most = description.stages[i].max_actors;
    stepped.actors[i] = static_cast<std::uint32_t>(std::clamp<std::int64_t>(wanted, 1, most));
  }
  const double factor = kPrefetchFactors[actions.prefetch];
  stepped.prefetch = std::clamp<std::uint32_t>(static_cast<std::uint32_t>(base.prefetch * factor),
                                               1, std::max(1U, description.max_prefetch));
  // Prefetch is cut in favour of actors; then the last stages fall back to their base.
  while (stepped.prefetch > 1 && !fits(description, limits, stepped)) stepped.prefetch /= 2;
  for (std::size_t i = stepped.actors.size(); i > 0 && !fits(description, limits, stepped); --i) {
    stepped.actors[i - 1] = std::min(stepped.actors[i - 1], base.actors[i - 1]);
  }
  return stepped;
}

}  // namespace forebay::tuner
