#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Whether the process takes nine tenths of its memory or more. From there on no actor is added:
/// what grows may be a user's function, which more actors would call more often.
bool nearly_full(const CurrentState& now);

/// What the guard made of a proposal.
struct Verdict {
  Allocation goal;                   ///< Legal; where the guard will lead.
  std::vector<std::string> changes;  ///< What it changed in the proposal and why; empty: nothing.
};

/// Stands between every policy and the pipeline: the only way through.
///
/// Keeps a goal and leads to it in steps, each of which is safe at the moment it is taken: actors
/// told to go count until they have gone, items that were prefetched until they are used, so
/// growing waits for room. Bounds: `max_actors` of each stage and in all; worst-case memory by the
/// pipeline's account, plus what the kernel sees beyond it, within the limit. A limit that was
/// lowered is acted on at the next step, without a proposal: prefetch goes first, then actors in
/// proportion, and more of them as long as items that wait take their room; when it rises again the
/// goal still stands. Never below one actor a stage and one item. Where the process itself takes
/// nine tenths of the limit or more, whatever for, no stage gets another actor. Pure state, no
/// threads; a value; cannot be configured away.
class Guard {
 public:
  explicit Guard(PipelineDescription description);

  /// Takes a proposal, however wild (wrong sizes and zeros included), as the new goal.
  Verdict admit(const Allocation& proposal, const CurrentState& now);

  /// What may stand from now on, on the way to the goal. Call it often (ten times a second).
  Allocation step(const CurrentState& now) const;

 private:
  PipelineDescription description_;
  Allocation goal_;
};

}  // namespace forebay::tuner
