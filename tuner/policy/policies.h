#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "tuner/allocation.h"
#include "tuner/plan/plan.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// The true costs of a modelled pipeline at this moment; only the oracle uses them.
struct Truth {
  std::vector<StageCost> costs;
  double trainer_rate = 0;
};

/// The inputs from which a policy is made.
struct PolicyContext {
  PipelineDescription description;
  Limits limits;  ///< At the start.
  std::uint64_t seed = 1;
  Allocation fixed;                         ///< For `static`; empty: one actor a stage.
  std::function<Truth()> truth;             ///< For `oracle`; empty if the truth is unknown.
  std::string weights;                      ///< A file for `intune`; empty: the shipped weights.
  RewardMode reward = RewardMode::kUsable;  ///< For `intune`.
};

/// Maps observations to proposals, with the state of one run: all of a policy that learns nothing
/// for later runs.
using Decide = std::function<Proposal(const Observation&)>;

/// A line of `forebay tune --policies`.
struct PolicyInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view source;     ///< The paper or code it follows.
  bool guarded_when_modelled;  ///< False: `tune compare` runs it without the guard, as its original
                               ///< is.
  Result<std::unique_ptr<Policy>> (*make)(std::string_view name, const PolicyContext& context);
};

std::span<const PolicyInfo> policies();

/// Returns kInvalid, naming the nearest policy or the input that the context lacks. Where stages
/// may join, the policy sets the actors of groups, and a CutPolicy around it moves the cuts.
Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyContext& context);

}  // namespace forebay::tuner
