#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// A policy's proposal for the next allocation.
struct Proposal {
  Allocation allocation = {};
  double expected_splits_per_second = 0;  ///< 0: no prediction.
  std::string reason = {};                ///< A few words for the log and the progress line.
};

/// Maps observations to allocations; the only part that differs between tuners.
///
/// Called once a period, from one thread. May keep any state. It may propose anything: the guard
/// decides what is applied (tuner/guard.h), and the next observation shows the applied allocation.
class Policy {
 public:
  virtual ~Policy() = default;

  virtual std::string_view name() const = 0;
  virtual Proposal decide(const Observation& seen) = 0;

  /// The state from which a later run of the same job can start, as text; empty: none.
  virtual std::string learned_state() const { return {}; }
  /// Restores such a state; returns false for another kind, version or pipeline. Call it before
  /// decide().
  virtual bool restore(std::string_view) { return false; }
};

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
