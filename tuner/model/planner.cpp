#include "tuner/model/planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tuner/model/carriers.h"
#include "tuner/model/judge.h"
#include "tuner/model/possible_worlds.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr std::size_t kWorldPlans = 2;  // possible worlds for which candidates are made
constexpr std::array kHeadrooms{1.0, 1.03, 1.06, 1.1, 1.15, 1.22, 1.35, 1.6, 2.0, 3.0};
constexpr double kPrecision = 1e-4;
constexpr double kGuessed = 2;      // times the actors with which splits were measured
constexpr double kNear = 1.25;      // times those actors, that are no bad guess
constexpr double kBlocked = 10;     // seconds that a split may take after a bad guess, or
constexpr double kLonger = 3;       // times what it takes now
constexpr double kRisk = 0.1;       // probability of a worse guess
constexpr double kStaying = 0.002;  // of the rate, that a change must gain
constexpr double kEasing = 0.0001;  // of the rate, to only remove actors, which risks little

// Whether no stage has more actors in `few` than in `many`.
bool no_more(const Allocation& few, const Allocation& many) {
  return std::equal(few.actors.begin(), few.actors.end(), many.actors.begin(), many.actors.end(),
                    std::less_equal<>());
}

// The most actors of a stage, no fewer than `stands`, with which splits take longer than bearable
// only with probability kRisk: an actor that was too much can go only when its split is done.
std::uint32_t safe_actors(const StageEstimate& stage, const StageCost& cost, std::uint32_t stands,
                          std::uint32_t most) {
  const double now = cost.slow(stands);
  const double times = std::max(kBlocked / cost.seconds, kLonger * now);
  if (stage.risk(most, times) <= kRisk) return most;
  std::uint32_t safe = stands;
  while (safe < most) {
    const std::uint32_t middle = safe + (most - safe + 1) / 2;
    if (stage.risk(middle, times) <= kRisk) {
      safe = middle;
    } else {
      most = middle - 1;
    }
  }
  return safe;
}

// A stage that got many actors and has not shown their effect yet gets no more: if it contends, a
// second guess on top of the first would block it for long.
std::uint32_t most_safe(const StageEstimate& stage, const StageCost& cost, std::uint32_t stands,
                        std::uint32_t most) {
  const double measured = stage.measured_actors();
  const auto near = std::min(most, static_cast<std::uint32_t>(kNear * measured));
  const std::uint32_t safe = std::max(near, safe_actors(stage, cost, std::min(stands, most), most));
  return measured > 0 && stands > kGuessed * measured ? std::min(stands, safe) : safe;
}

PipelineDescription within_reach(PipelineDescription reach, const PipelineEstimate& known,
                                 const Allocation& current) {
  const std::vector<StageCost> costs = known.mean();
  for (std::size_t i = 0; i < reach.stages.size(); ++i) {
    std::uint32_t& most = reach.stages[i].max_actors;
    most = most_safe(known.stages()[i], costs[i], current.actors[i], most);
  }
  return reach;
}

std::uint32_t prefetch_for(const PipelineDescription& description, const Allocation& allocation,
                           const Limits& limits) {
  if (description.prefetch_item_bytes == 0) return 1;
  const std::uint32_t wanted = std::min(description.default_prefetch, description.max_prefetch);
  return prefetch_beside(description, allocation, std::max(1U, wanted),
                         {.bytes = limits.memory_bytes});
}

}  // namespace

bool fits(const PipelineDescription& description, Allocation allocation, const Limits& limits) {
  allocation.prefetch = 1;
  return within(description, allocation, {description.max_actors, limits.memory_bytes});
}

Allocation safe_step(const PipelineEstimate& known, Allocation wanted, const Allocation& current) {
  const std::vector<StageCost> costs = known.mean();
  for (std::size_t i = 0; i < costs.size(); ++i) {
    std::uint32_t& most = wanted.actors[i];
    if (most > current.actors[i]) {
      most = most_safe(known.stages()[i], costs[i], current.actors[i], most);
    }
  }
  return wanted;
}

Planned Planner::plan(const PipelineEstimate& known, const Limits& limits,
                      const Allocation& current) const {
  const PossibleWorlds worlds(known);
  const Judge judge(description_, reward_, limits, worlds);
  const PipelineDescription reach = within_reach(description_, known, current);
  std::vector<std::vector<StageCost>> guesses{known.mean()};
  for (std::size_t w = 0; w < kWorldPlans; ++w) guesses.push_back(worlds.costs(w));

  Planned best = judge.judged(current);
  const double stays =
      fits(description_, current, limits) ? judge.value(best) : -best.expected_splits_per_second;
  double best_value = stays;
  std::vector<Allocation> judged;  // often many headrooms need the same actors
  for (const auto& costs : guesses) {
    const PlanLimits bounds{.limits = {known.cpus(), limits.memory_bytes},
                            .trainer_rate = known.trainer_rate(),
                            .prefetch = 1,
                            .precision = kPrecision};
    const double rate = best_allocation(reach, costs, bounds).splits_per_second;
    Carriers carriers(reach, costs, limits.memory_bytes, rate);
    for (const double headroom : kHeadrooms) {
      Allocation candidate = carriers.fitting(headroom);
      if (std::ranges::find(judged, candidate) != judged.end()) continue;
      judged.push_back(candidate);
      const double needed = no_more(candidate, current) ? kEasing : kStaying;
      const double least = std::max(best_value, stays * (1 + needed));
      if (!judge.may_exceed(candidate, least)) continue;
      Planned tried = judge.judged(std::move(candidate));
      tried.headroom = headroom;
      if (judge.value(tried) <= least) continue;
      best_value = judge.value(tried);
      best = std::move(tried);
    }
  }
  best.allocation.prefetch = prefetch_for(description_, best.allocation, limits);
  return best;
}

}  // namespace forebay::tuner
