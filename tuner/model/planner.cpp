#include "tuner/model/planner.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "tuner/model/expected_rate.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kWorlds = 8;
constexpr std::uint64_t kWorldPlans = 2;  // possible worlds for which candidates are made
constexpr std::array kHeadrooms{1.0, 1.03, 1.06, 1.1, 1.15, 1.22, 1.35, 1.6, 2.0, 3.0};
constexpr double kLimitHeadroom =
    1.3;  // of a stage at a rate limit: no start is missed, and the limit's end is noticed
constexpr double kPrecision = 1e-4;
constexpr double kCuriosity =
    0.3;                         // value of one standard deviation of doubt: trying reduces doubt
constexpr double kGuessed = 2;   // times the actors with which splits were measured
constexpr double kNear = 1.25;   // times those actors, that are no bad guess
constexpr double kBlocked = 10;  // seconds that a split may take after a bad guess, or
constexpr double kLonger = 3;    // times what it takes now
constexpr double kRisk = 0.1;    // probability of a worse guess
constexpr double kStaying = 0.002;  // of the rate, that a change must gain
constexpr double kEasing = 0.0002;  // of the rate, to only remove actors, which risks little

// Whether no stage has more actors in `few` than in `many`.
bool no_more(const Allocation& few, const Allocation& many) {
  return std::equal(few.actors.begin(), few.actors.end(), many.actors.begin(), many.actors.end(),
                    std::less_equal<>());
}

// The worlds in which candidates are judged: costs drawn from the estimate.
struct Worlds {
  explicit Worlds(const PipelineEstimate& known) {
    for (std::uint64_t w = 0; w < kWorlds; ++w) costs.push_back(known.sample(w));
    for (const StageEstimate& stage : known.stages()) noise.push_back(stage.noise());
  }

  Planned judged(const PipelineEstimate& known, Allocation allocation) const {
    double sum = 0;
    double square = 0;
    for (const auto& world : costs) {
      const double rate = expected_rate(world, noise, allocation.actors,
                                        {known.cpus(), known.trainer_rate(), known.loss_scale()});
      sum += rate;
      square += rate * rate;
    }
    const double mean = sum / kWorlds;
    const double variance = std::max(0.0, square / kWorlds - mean * mean);
    return {.allocation = std::move(allocation),
            .expected_splits_per_second = mean,
            .uncertainty = std::sqrt(variance) / mean};
  }

  std::vector<std::vector<StageCost>> costs;
  std::vector<double> noise;
};

// The most actors of a stage, no fewer than `stands`, with which splits take longer than bearable
// only with probability kRisk: an actor that was too much can go only when its split is done.
std::uint32_t safe_actors(const StageEstimate& stage, const StageCost& cost, std::uint32_t stands,
                          std::uint32_t most) {
  const double now = cost.slow(stands);
  const double times = std::max(kBlocked / cost.seconds, kLonger * now);
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

bool fits(const PipelineDescription& description, const Allocation& allocation,
          const Limits& limits) {
  Allocation least = allocation;
  least.prefetch = 1;
  return within(description, least, {description.max_actors, limits.memory_bytes});
}

/// The fewest actors with which the stages carry a rate, within bounds.
class Carriers {
 public:
  Carriers(const PipelineDescription& reach, std::span<const StageCost> costs, const Limits& limits)
      : reach_(reach), limits_(limits) {
    for (std::size_t i = 0; i < costs.size(); ++i) {
      StageCost unlimited = costs[i];
      most_rates_.push_back(std::exchange(unlimited.max_rate, 0));
      stages_.emplace_back(unlimited, reach.stages[i].max_actors);
    }
  }

  /// For `rate` times `headroom`; where memory is too small, for the most headroom that fits.
  Allocation fitting(double rate, double headroom) const {
    Allocation most = carrying(rate, headroom);
    if (fits(reach_, most, limits_)) return most;
    double low = 0;
    Allocation found = one_each(reach_);
    for (int i = 0; i < 8; ++i) {
      const double middle = (low + headroom) / 2;
      Allocation tried = carrying(rate, middle);
      if (fits(reach_, tried, limits_)) {
        low = middle;
        found = std::move(tried);
      } else {
        headroom = middle;
      }
    }
    return found;
  }

 private:
  // A stage that cannot reach the rate has the actors with which it is fastest.
  Allocation carrying(double rate, double headroom) const {
    Allocation carried{.prefetch = 1};
    carried.actors.reserve(stages_.size());
    for (std::size_t i = 0; i < stages_.size(); ++i) {
      double wanted = rate * headroom;
      if (most_rates_[i] > 0) wanted = std::min(wanted, most_rates_[i] * kLimitHeadroom);
      const std::uint32_t enough = stages_[i].fewest(wanted);
      carried.actors.push_back(enough > 0 ? enough : stages_[i].fastest());
    }
    return carried;
  }

  const PipelineDescription& reach_;
  const Limits& limits_;
  std::vector<ActorsForRate> stages_;  // without their rate limits
  std::vector<double> most_rates_;     // 0: no limit
};

std::uint32_t prefetch_for(const PipelineDescription& description, const Allocation& allocation,
                           const Limits& limits) {
  if (description.prefetch_item_bytes == 0) return 1;
  const std::uint32_t wanted = std::min(description.default_prefetch, description.max_prefetch);
  return prefetch_beside(description, allocation, std::max(1U, wanted),
                         {.bytes = limits.memory_bytes});
}

}  // namespace

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
  const Worlds worlds(known);
  const PipelineDescription reach = within_reach(description_, known, current);
  std::vector<std::vector<StageCost>> guesses{known.mean()};
  for (std::uint64_t w = 0; w < kWorldPlans; ++w) guesses.push_back(worlds.costs[w]);

  Planned best = worlds.judged(known, current);
  const auto value = [&](const Planned& planned) {
    return planned.expected_splits_per_second *
           (1 - price(reward_, description_, limits, planned.allocation) +
            kCuriosity * planned.uncertainty);
  };
  const double stays =
      fits(description_, current, limits) ? value(best) : -best.expected_splits_per_second;
  double best_value = stays;
  std::vector<Allocation> judged;  // often many headrooms need the same actors
  for (const auto& costs : guesses) {
    const PlanLimits bounds{.limits = {known.cpus(), limits.memory_bytes},
                            .trainer_rate = known.trainer_rate(),
                            .prefetch = 1,
                            .precision = kPrecision};
    const double rate = best_allocation(reach, costs, bounds).splits_per_second;
    const Carriers carriers(reach, costs, limits);
    for (const double headroom : kHeadrooms) {
      Allocation candidate = carriers.fitting(rate, headroom);
      if (std::ranges::find(judged, candidate) != judged.end()) continue;
      judged.push_back(candidate);
      Planned tried = worlds.judged(known, std::move(candidate));
      tried.headroom = headroom;
      const double needed = no_more(tried.allocation, current) ? kEasing : kStaying;
      if (value(tried) <= std::max(best_value, stays * (1 + needed))) continue;
      best_value = value(tried);
      best = std::move(tried);
    }
  }
  best.allocation.prefetch = prefetch_for(description_, best.allocation, limits);
  return best;
}

}  // namespace forebay::tuner
