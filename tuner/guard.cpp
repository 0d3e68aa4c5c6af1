#include "tuner/guard.h"

#include <algorithm>
#include <utility>

#include "tuner/allocation.h"

namespace forebay::tuner {
namespace {

/// Bytes that the pipeline's account may use: the limit less the bytes that the kernel counts
/// beyond the account.
std::uint64_t room(const CurrentState& now) {
  const std::uint64_t beyond =
      now.resident_bytes > now.memory_bytes ? now.resident_bytes - now.memory_bytes : 0;
  return now.limits.memory_bytes > beyond ? now.limits.memory_bytes - beyond : 0;
}

/// `wanted`, with at most the current number of actors in each stage.
Allocation without_growth(const PipelineDescription& description, Allocation wanted,
                          const CurrentState& now) {
  const Allocation current = shaped(description, now.allocation());
  for (std::size_t i = 0; i < wanted.actors.size(); ++i) {
    wanted.actors[i] = std::min(wanted.actors[i], current.actors[i]);
  }
  return wanted;
}

void note(const PipelineDescription& description, const Allocation& before, const Allocation& after,
          const std::string& why, std::vector<std::string>& changes) {
  const auto say = [&](const std::string& name, std::uint32_t from, std::uint32_t to) {
    if (from == to) return;
    changes.push_back(name + " " + std::to_string(from) + " -> " + std::to_string(to) + ": " + why);
  };
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    say(description.stages[i].name, i < before.actors.size() ? before.actors[i] : 0,
        after.actors[i]);
  }
  say("prefetch", before.prefetch, after.prefetch);
}

/// An allocation on its way to a target; counts all actors that are still alive.
class Transition {
 public:
  Transition(const PipelineDescription& description, const CurrentState& now, Allocation target)
      : description_(description),
        now_(now),
        bounds_{description.max_actors, room(now)},
        target_(std::move(target)),
        next_(shaped(description, now.allocation())),
        alive_(next_) {
    for (std::size_t i = 0; i < std::min(alive_.actors.size(), now.leaving.size()); ++i) {
      alive_.actors[i] += now.leaving[i];
    }
    for (std::size_t i = 0; i < next_.actors.size(); ++i) {
      next_.actors[i] = std::min(next_.actors[i], target_.actors[i]);
    }
    next_.prefetch = std::min(next_.prefetch, target_.prefetch);
    alive_.prefetch = std::max(next_.prefetch, now.prefetched);
    make_way();
  }

  Allocation run() {
    const auto may_grow = [this](std::size_t stage) {
      return alive_.actors[stage] < description_.stages[stage].max_actors &&
             fits_one_more(description_, alive_, stage, bounds_);
    };
    while (const auto stage = neediest(next_, target_, may_grow)) {
      ++next_.actors[*stage];
      ++alive_.actors[*stage];
    }
    const std::uint32_t fits = prefetch_beside(description_, alive_, target_.prefetch, bounds_);
    next_.prefetch = std::max(next_.prefetch, fits);
    return next_;
  }

 private:
  /// Waiting items cannot be removed. If they do not fit beside the actors that stay, actors are
  /// removed until the trainer has taken the items.
  void make_way() {
    const std::uint64_t waiting = (alive_.prefetch - 1) * description_.prefetch_item_bytes;
    const std::uint64_t left = bounds_.bytes - std::min(bounds_.bytes, waiting);
    next_.actors = fitted(description_, next_, {bounds_.actors, left}).actors;
  }

  const PipelineDescription& description_;
  const CurrentState& now_;
  const Bounds bounds_;
  const Allocation target_;
  Allocation next_;
  Allocation alive_;  // next_ plus the actors and items that have yet to go
};

}  // namespace

bool nearly_full(const CurrentState& now) {
  return now.process_bytes > 0 && now.process_bytes >= now.limits.memory_bytes / 10 * 9;
}

Guard::Guard(PipelineDescription description)
    : description_(std::move(description)), goal_(one_each(description_)) {}

Verdict Guard::admit(const Allocation& proposal, const CurrentState& now) {
  Verdict verdict;
  const Allocation whole = shaped(description_, proposal);
  if (proposal.actors.size() != description_.stages.size()) {
    verdict.changes.push_back("actors of " + std::to_string(proposal.actors.size()) +
                              " stages for " + std::to_string(description_.stages.size()));
  }
  note(description_, proposal, whole, "bounds of the stage", verdict.changes);
  const Allocation few = fitted(description_, whole, {description_.max_actors, UINT64_MAX});
  note(description_, whole, few, "max_actors " + std::to_string(description_.max_actors),
       verdict.changes);
  verdict.goal = fitted(description_, few, {description_.max_actors, room(now)});
  note(description_, few, verdict.goal, "memory", verdict.changes);
  if (nearly_full(now)) {
    const Allocation fit =
        std::exchange(verdict.goal, without_growth(description_, verdict.goal, now));
    note(description_, fit, verdict.goal, "nine tenths of the memory are taken", verdict.changes);
  }
  goal_ = verdict.goal;
  return verdict;
}

Allocation Guard::step(const CurrentState& now) const {
  const Bounds bounds{description_.max_actors, room(now)};
  Allocation target = fitted(description_, goal_, bounds);
  if (nearly_full(now)) target = without_growth(description_, std::move(target), now);
  return Transition(description_, now, std::move(target)).run();
}

}  // namespace forebay::tuner
