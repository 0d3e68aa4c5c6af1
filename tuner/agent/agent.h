#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tuner/agent/exploration.h"
#include "tuner/agent/features.h"
#include "tuner/agent/network.h"
#include "tuner/agent/trial.h"
#include "tuner/allocation.h"
#include "tuner/model/planner.h"

namespace forebay::tuner {

/// One training sample: the advantage of an action over leaving its branch unchanged, in per cent
/// of the reward.
struct Lesson {
  std::vector<Features> rows;  ///< One row for a stage's step, all rows for prefetch.
  std::uint8_t output = 0;     ///< Index into Outputs.
  float advantage = 0;
};

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

/// The part of the agent that is left out, to measure what each part contributes.
enum class Ablation : std::uint8_t {
  kNone,
  kNetwork,      ///< The model's plan without steps.
  kModel,        ///< The network steps from the current allocation; no plan.
  kPretraining,  ///< The network starts untrained.
  kOnline,       ///< No learning while the job runs.
  kGate,         ///< The network is asked always, even where the costs explain the rate.
  kExploration,  ///< No directed exploration.
};

/// The shape of every network in this folder.
inline constexpr Network::Shape kNetworkShape{
    .inputs = kFeatures, .hidden = 48, .outputs = kOutputs};

/// A base allocation from the model, and the network's advantages of each step away from it.
///
/// Shared by the policy and by its pre-training. A value.
class Agent {
 public:
  Agent(PipelineDescription description, RewardMode reward, Ablation ablation);

  /// Processes an interval; afterwards base(), rows() and outputs() describe this moment.
  void observe(const Observation& seen, const Network& network);

  /// Selects the network's actions. Selects no action while the measured rate is what the costs
  /// allow (but for kGate): then the model is right and a step can only lose. Settled actions stay
  /// as long as the base does.
  const Actions& choose();
  const Actions& actions() const { return actions_; }
  /// Replaces the selected actions, e.g. to explore.
  void take(const Actions& actions) { actions_ = actions; }
  Allocation allocation(const Actions& actions) const;

  const Planned& base() const { return base_; }
  const Trial& trial() const { return trial_; }
  /// The stage whose belief base() tests at the moment.
  const std::optional<std::size_t>& on_trial() const { return trial_.stage(); }
  /// What base() tries beyond the plan, if anything.
  const Exploration& exploration() const { return exploration_; }
  /// Whether base() changed in the last interval.
  bool moved() const { return moved_; }
  const std::vector<Features>& rows() const { return rows_; }
  const std::vector<Outputs>& outputs() const { return outputs_; }
  const PipelineEstimate& known() const { return known_; }
  PipelineEstimate& known() { return known_; }
  const PipelineDescription& description() const { return description_; }
  RewardMode reward() const { return reward_; }
  /// Whether all outputs of the network were finite; if not, it takes no steps.
  bool sane() const { return sane_; }

 private:
  PipelineDescription description_;
  RewardMode reward_;
  Ablation ablation_;
  PipelineEstimate known_;
  Planner planner_;
  Trial trial_;
  Exploration exploration_;
  Limits limits_;
  Planned base_;
  bool moved_ = true;
  bool sane_ = true;
  std::vector<Features> rows_;
  std::vector<Outputs> outputs_;
  Actions actions_;
};

}  // namespace forebay::tuner
