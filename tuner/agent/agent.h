#pragma once

#include <vector>

#include "tuner/agent/actions.h"
#include "tuner/agent/features.h"
#include "tuner/agent/network.h"
#include "tuner/model/planner.h"

namespace forebay::tuner {

/// The part of the agent that is left out, to measure what each part contributes.
enum class Ablation : std::uint8_t {
  kNone,
  kNetwork,      ///< The model's plan without steps.
  kModel,        ///< The network steps from the current allocation; no plan.
  kPretraining,  ///< The network starts untrained.
  kOnline,       ///< No learning while the job runs.
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
  /// allow: then the model is right and a step can only lose. Settled actions stay as long as the
  /// base does.
  const Actions& choose();
  const Actions& actions() const { return actions_; }
  /// Replaces the selected actions, e.g. to explore.
  void take(const Actions& actions) { actions_ = actions; }
  Allocation allocation(const Actions& actions) const;

  const Planned& base() const { return base_; }
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
  Limits limits_;
  Planned base_;
  bool moved_ = true;
  bool sane_ = true;
  std::vector<Features> rows_;
  std::vector<Outputs> outputs_;
  Actions actions_;
};

}  // namespace forebay::tuner
