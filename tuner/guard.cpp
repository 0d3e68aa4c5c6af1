#include "tuner/guard.h"

#include <algorithm>
#include <utility>

#include "tuner/allocation.h"

namespace forebay::tuner {
namespace {

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

/// The actors of `next` that stay beside `waiting` items. These cannot be removed: if they do not
/// fit, actors are removed until the trainer has taken the items.
std::vector<std::uint32_t> staying(const PipelineDescription& description, const Allocation& next,
                                   std::uint32_t waiting, const Bounds& bounds) {
  const std::uint64_t bytes = (waiting - 1) * description.prefetch_item_bytes;
  const std::uint64_t left = bounds.bytes - std::min(bounds.bytes, bytes);
  return fitted(description, next, {bounds.actors, left}).actors;
}

/// The next allocation on the way to `target`; all actors and items count that have yet to go.
Allocation step_towards(const PipelineDescription& description, const Allocation& target,
                        const CurrentState& now, std::uint64_t bytes) {
  const Bounds bounds{description.max_actors, bytes};
  Allocation alive = shaped(description, now.allocation());
  Allocation next = without_growth(description, target, now);
  next.prefetch = std::min(alive.prefetch, target.prefetch);
  for (std::size_t i = 0; i < std::min(alive.actors.size(), now.leaving.size()); ++i) {
    alive.actors[i] += now.leaving[i];
  }
  alive.prefetch = std::max(next.prefetch, now.prefetched);
  next.actors = staying(description, next, alive.prefetch, bounds);
  const auto may_grow = [&](std::size_t stage) {
    return alive.actors[stage] < description.stages[stage].max_actors &&
           fits_one_more(description, alive, stage, bounds);
  };
  while (const auto stage = neediest(next, target, may_grow)) {
    ++next.actors[*stage];
    ++alive.actors[*stage];
  }
  next.prefetch =
      std::max(next.prefetch, prefetch_beside(description, alive, target.prefetch, bounds));
  return next;
}

}  // namespace

bool nearly_full(const CurrentState& now) {
  return now.process_bytes > 0 && now.process_bytes >= now.limits.memory_bytes / 10 * 9;
}

Guard::Guard(PipelineDescription description)
    : description_(std::move(description)), goal_(one_each(description_)) {}

std::uint32_t Guard::user_actors(const CurrentState& now) const {
  std::uint32_t actors = 0;
  for (std::size_t i = 0; i < description_.stages.size(); ++i) {
    if (!description_.stages[i].calls_user_code) continue;
    actors += i < now.actors.size() ? now.actors[i] : 0;
    actors += i < now.leaving.size() ? now.leaving[i] : 0;
  }
  return actors;
}

// A function may take its memory for the time of a call only, or keep it: the most counts.
void Guard::learn(const CurrentState& now) {
  const std::uint32_t actors = user_actors(now);
  if (actors == 0 || now.process_bytes <= now.memory_bytes) return;
  user_bytes_ = std::max(user_bytes_, (now.process_bytes - now.memory_bytes) / actors);
}

PipelineDescription Guard::with_user_bytes() const {
  PipelineDescription description = description_;
  for (StageDescription& stage : description.stages) {
    if (stage.calls_user_code) stage.bytes_per_actor += user_bytes_;
  }
  return description;
}

/// Bytes that the pipeline's account and users' functions may use: the limit less the bytes that
/// the kernel counts beyond both.
std::uint64_t Guard::room(const CurrentState& now) const {
  const std::uint64_t known = now.memory_bytes + user_actors(now) * user_bytes_;
  const std::uint64_t beyond = now.resident_bytes > known ? now.resident_bytes - known : 0;
  return now.limits.memory_bytes > beyond ? now.limits.memory_bytes - beyond : 0;
}

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
  verdict.goal = fitted(with_user_bytes(), few, {description_.max_actors, room(now)});
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
  const PipelineDescription description = with_user_bytes();
  const std::uint64_t bytes = room(now);
  Allocation target = fitted(description, goal_, {description.max_actors, bytes});
  if (nearly_full(now)) target = without_growth(description, std::move(target), now);
  return step_towards(description, target, now, bytes);
}

}  // namespace forebay::tuner
