#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/observation.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// A complete decision: the observation, the proposal, the allocation applied, and the result of
/// the previous decision. A line of the decision log (tuner/log).
struct Decision {
  std::uint64_t number = 0;  ///< From 1.
  std::string policy;        ///< The policy that decided, or "fallback".
  Observation seen;
  Proposal proposal;
  Allocation applied;                ///< The guard's goal; in `advise` mode the allocation before.
  std::vector<std::string> guarded;  ///< What the guard changed and why.
  std::string fault;                 ///< Why the policy was overruled; empty: it was not.
  double expected_before = 0;        ///< Rate promised for this interval, in splits/s.
  double measured = 0;               ///< The measured rate, in splits/s.
  double decide_seconds = 0;         ///< Time to decide.
};

/// Names the part of a decision, as read from a log or a message, that does not have a number for
/// each of the description's stages, as the decision log calls the part; empty if all parts fit.
inline std::string_view misfit(const Decision& decision, const PipelineDescription& description) {
  const std::size_t stages = description.stages.size();
  if (decision.seen.stages.size() != stages) return "seen.stages";
  if (decision.proposal.allocation.actors.size() != stages) return "proposal.allocation.actors";
  if (decision.applied.actors.size() != stages) return "applied.actors";
  return {};
}

}  // namespace forebay::tuner
