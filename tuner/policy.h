#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// What a policy believes of a stage.
struct StageBelief {
  double seconds = 0;   ///< Of a split, with one actor; 0: no split was seen.
  double slow = 1;      ///< Times that, with the actors that stand.
  double cpu = 1;       ///< Share of a split's time on a CPU.
  double max_rate = 0;  ///< Splits/s that a disk or a link allows; 0: no limit was seen.
  double rate = 0;      ///< Splits/s that the actors that stand can make.
  double noise = 0;     ///< Coefficient of variation of a split's time.
  double doubt = 0;     ///< Standard deviation of the logarithm of the time.
};

/// What a policy believes of a pipeline and its machine, and what its last try showed.
struct Beliefs {
  std::vector<StageBelief> stages = {};  ///< Empty: the policy believes nothing.
  double trainer_rate = 0;               ///< Splits/s that the trainer takes at most; 0: unknown.
  double cpus = 0;                       ///< That the stages can use.
  double missing = 0;                    ///< Share of the rate that the costs allow.
  std::string outcome = {};              ///< In words; empty: no try has just ended.
};

/// A policy's proposal for the next allocation.
struct Proposal {
  Allocation allocation = {};
  double expected_splits_per_second = 0;  ///< 0: no prediction.
  std::string reason = {};                ///< A few words for the log and the progress line.
  Beliefs beliefs = {};                   ///< For the log.
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

/// Whether a pipeline that another process describes can be planned on a machine with these limits:
/// it has stages that may have actors, CPUs and memory.
inline bool can_be_planned(const PipelineDescription& description, const Limits& limits) {
  return !description.stages.empty() && std::isfinite(limits.cpus) && limits.cpus > 0 &&
         limits.memory_bytes > 0 &&
         std::ranges::all_of(description.stages,
                             [](const StageDescription& stage) { return stage.max_actors > 0; });
}

/// Whether the learned state for one description fits the other: both have the same stages with the
/// same bounds of actors.
inline bool same_machine(const PipelineDescription& a, const PipelineDescription& b) {
  return a.max_actors == b.max_actors &&
         std::ranges::equal(a.stages, b.stages,
                            [](const StageDescription& x, const StageDescription& y) {
                              return x.name == y.name && x.max_actors == y.max_actors;
                            });
}

/// Why a node keeps its allocation, and how the reasons of its own plan begin, while the policy
/// that decides for it beside the trainer does not answer.
inline constexpr std::string_view kUnanswered = "the trainer does not answer";
inline constexpr std::string_view kAlone = "alone: ";

/// Whether a node made the decision without the policy beside the trainer.
inline bool made_alone(const Decision& decision) {
  const std::string& reason = decision.proposal.reason;
  return reason == kUnanswered || reason.starts_with(kAlone);
}

/// Names the part of a decision, as read from a log or a message, that does not have a number for
/// each of the description's stages, as the decision log calls the part; empty if all parts fit.
inline std::string_view misfit(const Decision& decision, const PipelineDescription& description) {
  const std::size_t stages = description.stages.size();
  if (decision.seen.stages.size() != stages) return "seen.stages";
  if (decision.proposal.allocation.actors.size() != stages) return "proposal.allocation.actors";
  const std::size_t believed = decision.proposal.beliefs.stages.size();
  if (believed != 0 && believed != stages) return "proposal.beliefs.stages";
  if (decision.applied.actors.size() != stages) return "applied.actors";
  return {};
}

}  // namespace forebay::tuner
