#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/observation.h"
#include "tuner/policy.h"

namespace forebay::tuner {

/// One decision, whole: what was seen, wanted, allowed, and what came of the one before. A line of
/// the decision log (tuner/log).
struct Decision {
  std::uint64_t number = 0;  ///< From 1.
  std::string policy;        ///< Who decided: the policy, or "fallback".
  Observation seen;
  Proposal proposal;
  Allocation applied;                ///< The guard's goal; in `advise` mode what stood before.
  std::vector<std::string> guarded;  ///< What the guard changed and why.
  std::string fault;                 ///< Why the policy was not listened to; empty: it was.
  double expected_before = 0;        ///< What the last decision promised for this interval,
  double measured = 0;               ///< and what came, both in splits/s.
  double decide_seconds = 0;         ///< What deciding took.
};

/// Which part of a decision that came from outside has not a number for each of the layout's
/// stages, as it is called in the decision log; empty: all have.
inline std::string_view misfit(const Decision& decision, const PipelineDescription& description) {
  const std::size_t stages = description.stages.size();
  if (decision.seen.stages.size() != stages) return "seen.stages";
  if (decision.proposal.allocation.actors.size() != stages) return "proposal.allocation.actors";
  if (decision.applied.actors.size() != stages) return "applied.actors";
  return {};
}

}  // namespace forebay::tuner
