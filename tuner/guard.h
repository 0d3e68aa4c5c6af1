#pragma once

#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// Whether the process uses nine tenths of its memory or more. From there on no actor is added: the
/// growth may come from a user's function, which more actors would call more often.
bool nearly_full(const CurrentState& now);

/// The result of checking a proposal.
struct Verdict {
  Allocation goal;                   ///< A legal allocation, towards which the guard will lead.
  std::vector<std::string> changes;  ///< What it changed in the proposal and why; empty: no change.
};

/// The only path from a policy to the pipeline.
///
/// Keeps a goal and leads to it in steps, each of which is safe when it is taken: leaving actors
/// count until they have ended, and prefetched items until they are used, so growth waits for free
/// bytes. Bounds: `max_actors` of each stage and in all; worst-case memory by the pipeline's
/// account, plus the bytes that the kernel counts beyond it, within the limit. A lowered limit
/// takes effect at the next step, without a proposal: prefetch is cut first, then actors in
/// proportion, and more of them as long as waiting items use their bytes; when the limit rises
/// again the goal is unchanged. An actor that calls a user's functions counts with the most bytes
/// beyond the account that such actors were seen to take, each its share. Never goes below one
/// actor per stage (none of a stage that may join the one before it) and one item. If the process
/// itself uses nine tenths of the limit or more, for whatever reason, no stage gets another actor.
/// Pure state, no threads; a value; cannot be disabled by configuration.
class Guard {
 public:
  explicit Guard(PipelineDescription description);

  /// Takes what the process shows of the memory of users' functions. Call it before each step.
  void learn(const CurrentState& now);

  /// Takes any proposal (wrong sizes and zeros included) as the new goal, after making it legal.
  Verdict admit(const Allocation& proposal, const CurrentState& now);

  /// Returns the allocation to apply now, on the way to the goal. Call it often (ten times a
  /// second).
  Allocation step(const CurrentState& now) const;

 private:
  std::uint32_t user_actors(const CurrentState& now) const;
  PipelineDescription with_user_bytes() const;
  std::uint64_t room(const CurrentState& now) const;

  PipelineDescription description_;
  Allocation goal_;
  std::uint64_t user_bytes_ = 0;  // of one actor that calls a user's functions; the most seen
};

}  // namespace forebay::tuner
