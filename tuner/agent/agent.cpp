#include "tuner/agent/agent.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

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

constexpr double kTrusted = 0.02;  // shortfall below which the model is trusted
constexpr float kMargin = 0.3F;    // per cent of the reward that a step must at least promise

bool explores(Ablation ablation) {
  return ablation != Ablation::kNetwork && ablation != Ablation::kExploration;
}

bool all_finite(const std::vector<Outputs>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const Outputs& row) {
    return std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
  });
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
  const double wanted = base.prefetch * kPrefetchFactors[actions.prefetch];
  const double most = std::max(1U, description.max_prefetch);
  stepped.prefetch = static_cast<std::uint32_t>(std::clamp(wanted, 1.0, most));
  const Bounds bounds{description.max_actors, limits.memory_bytes};
  // Prefetch is cut in favour of actors; then the last stages fall back to their base.
  while (stepped.prefetch > 1 && !within(description, stepped, bounds)) stepped.prefetch /= 2;
  for (std::size_t i = stepped.actors.size(); i > 0 && !within(description, stepped, bounds); --i) {
    stepped.actors[i - 1] = std::min(stepped.actors[i - 1], base.actors[i - 1]);
  }
  return stepped;
}

Agent::Agent(PipelineDescription description, RewardMode reward, Ablation ablation)
    : description_(std::move(description)),
      reward_(reward),
      ablation_(ablation),
      known_(description_),
      planner_(description_, reward),
      trial_(description_),
      exploration_(description_),
      base_{.allocation = one_each(description_)} {}

void Agent::observe(const Observation& seen, const Network& network) {
  known_.observe(seen);
  limits_ = seen.limits;
  const Allocation current = seen.allocation();
  // The current allocation may be a step away from the base; the plan is compared with the base.
  const bool stepped = !moved_ && allocation(actions_) == current;
  const Planned before = base_;
  base_ = planner_.plan(known_, seen.limits, stepped ? before.allocation : current);
  if (ablation_ == Ablation::kModel) {
    base_.allocation = current;
  } else {
    base_ = trial_.next(seen, known_, std::move(base_));
    if (explores(ablation_) && !on_trial())
      base_ = exploration_.next(seen, known_, std::move(base_));
  }
  moved_ = base_.allocation != before.allocation;
  rows_ = features_of(description_, seen, known_, base_);
  outputs_.assign(rows_.size(), Outputs{});
  if (ablation_ == Ablation::kNetwork) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) network.forward(rows_[i], outputs_[i]);
  sane_ = all_finite(outputs_);
  if (!sane_) outputs_.assign(rows_.size(), Outputs{});
}

const Actions& Agent::choose() {
  const bool trusted = ablation_ != Ablation::kGate && known_.shortfall() < kTrusted;
  // The network has not seen what departs from the model's world: there the rules decide.
  if (trusted || exploration_.departing() || on_trial()) {
    actions_ = {.steps = std::vector<std::uint8_t>(outputs_.size(), 0)};
    return actions_;
  }
  actions_ = best_actions(outputs_, moved_ ? Actions{} : actions_, kMargin);
  return actions_;
}

Allocation Agent::allocation(const Actions& actions) const {
  if (actions.steps.size() != description_.stages.size()) return base_.allocation;
  return applied(description_, limits_, base_.allocation, actions);
}

}  // namespace forebay::tuner
