#include "tuner/agent/agent.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

constexpr double kTrusted = 0.02;  // shortfall below which the model is trusted
constexpr float kMargin = 0.3F;    // per cent of the reward that a step must at least promise

bool all_finite(const std::vector<Outputs>& outputs) {
  return std::all_of(outputs.begin(), outputs.end(), [](const Outputs& row) {
    return std::all_of(row.begin(), row.end(), [](float value) { return std::isfinite(value); });
  });
}

Allocation current_allocation_of(const Observation& seen) {
  Allocation current{.prefetch = seen.prefetch};
  for (const StageObservation& stage : seen.stages) current.actors.push_back(stage.actors);
  return current;
}

}  // namespace

Agent::Agent(PipelineDescription description, RewardMode reward, Ablation ablation)
    : description_(std::move(description)),
      reward_(reward),
      ablation_(ablation),
      known_(description_),
      planner_(description_, reward),
      base_{.allocation = one_each(description_)} {}

void Agent::observe(const Observation& seen, const Network& network) {
  known_.observe(seen);
  limits_ = seen.limits;
  const Allocation current = current_allocation_of(seen);
  // The current allocation may be a step away from the base; the plan is compared with the base.
  const bool stepped = !moved_ && allocation(actions_) == current;
  const Planned before = base_;
  base_ = planner_.plan(known_, seen.limits, stepped ? before.allocation : current);
  if (ablation_ == Ablation::kModel) base_.allocation = current;
  moved_ = base_.allocation != before.allocation;
  rows_ = features_of(description_, seen, known_, base_);
  outputs_.assign(rows_.size(), Outputs{});
  if (ablation_ == Ablation::kNetwork) return;
  for (std::size_t i = 0; i < rows_.size(); ++i) network.forward(rows_[i], outputs_[i]);
  sane_ = all_finite(outputs_);
  if (!sane_) outputs_.assign(rows_.size(), Outputs{});
}

const Actions& Agent::choose() {
  if (known_.shortfall() < kTrusted) {
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
