#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "tuner/agent/agent.h"
#include "tuner/agent/online.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// The inputs of an Intune.
struct IntuneOptions {
  PipelineDescription description;
  RewardMode reward = RewardMode::kUsable;
  Ablation ablation = Ablation::kNone;
  std::uint64_t seed = 1;
  std::string weights = {};  ///< A file; empty: the weights of this build.
};

/// The agent: a model fitted to the measurements, a network that steps around the model's plan, and
/// learning from the measured effect of steps (InTune, Nagrecha et al., RecSys 2023, and beyond it;
/// DESIGN.md).
class Intune final : public Policy {
 public:
  /// Returns kCorrupt or kNotFound if the weights cannot be used.
  static Result<std::unique_ptr<Intune>> make(const IntuneOptions& options);

  /// "intune", or with a part left out, for example "intune:no-network".
  std::string_view name() const override;
  Proposal decide(const Observation& observed) override;
  std::string learned_state() const override;
  bool restore(std::string_view text) override;

 private:
  Intune(const IntuneOptions& options, Network network);
  std::string reason(const Observation& seen, const Allocation& next) const;

  IntuneOptions options_;
  Network network_;
  Agent agent_;
  Online online_;
  std::optional<Allocation> last_;
};

}  // namespace forebay::tuner
