#pragma once

#include <memory>
#include <vector>

#include "tuner/agent/actions.h"
#include "tuner/agent/features.h"
#include "tuner/agent/network.h"
#include "tuner/model/planner.h"

namespace forebay::tuner {

/// What of the agent is left out, to see what each part brings.
enum class Ablation : std::uint8_t {
  kNone,
  kNetwork,      ///< The model's plan as it is.
  kModel,        ///< The network steps from what stands; no plan.
  kPretraining,  ///< The network starts as if nothing had been learnt.
  kOnline,       ///< Nothing is learnt while running.
};

/// The shape of every network here.
inline constexpr Network::Shape kNetworkShape{
    .inputs = kFeatures, .hidden = 48, .outputs = kOutputs};

/// A base from the model and the network's opinion on each step away from it.
///
/// Shared by the policy and by its pre-training. A value.
class Agent {
 public:
  Agent(PipelineDescription description, RewardMode reward, Ablation ablation);

  /// Takes in an interval: afterwards base(), rows() and outputs() are of this moment.
  void observe(const Observation& seen, const Network& network);

  /// The network's choice: none while what comes is what the costs allow, since then the model is
  /// right and a step can only lose; settled ones stay while the base does.
  const Actions& choose();
  const Actions& actions() const { return actions_; }
  /// Overrules it, e.g. to explore.
  void take(const Actions& actions) { actions_ = actions; }
  Allocation allocation(const Actions& actions) const;

  const Planned& base() const { return base_; }
  /// Whether base() is another than an interval ago.
  bool moved() const { return moved_; }
  const std::vector<Features>& rows() const { return rows_; }
  const std::vector<Outputs>& outputs() const { return outputs_; }
  const PipelineEstimate& known() const { return known_; }
  PipelineEstimate& known() { return known_; }
  const PipelineDescription& description() const { return description_; }
  RewardMode reward() const { return reward_; }
  /// Whether the network put out numbers; if not, its steps are none.
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
