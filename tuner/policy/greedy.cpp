#include "tuner/policy/greedy.h"

#include <algorithm>
#include <utility>

#include "tuner/fit.h"
#include "tuner/plan/steady.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

// Weight of older intervals; the last interval counts for two thirds.
constexpr double kKept = 0.3;
constexpr double kSame = 1e-9;

// Grows an allocation an actor at a time.
class Growth {
 public:
  Growth(const PipelineDescription& description, const std::vector<StageCost>& costs,
         const PlanLimits& limits)
      : description_(description),
        costs_(costs),
        limits_(limits),
        bounds_{.actors = description.max_actors, .bytes = limits.limits.memory_bytes},
        allocation_(one_each(description)) {
    allocation_.prefetch = 1;
  }

  // Adds an actor to each of the slowest stages; returns false without a change if that gains
  // nothing or is not allowed.
  bool grow() {
    const double before = rate();
    const Allocation kept = allocation_;
    const double slowest = slowest_rate() * (1 + kSame);
    for (std::size_t i = 0; i < costs_.size(); ++i) {
      if (costs_[i].rate(allocation_.actors[i]) <= slowest) ++allocation_.actors[i];
    }
    const bool allowed = allocation_ == shaped(description_, allocation_) &&
                         within(description_, allocation_, bounds_);
    if (allowed && rate() > before * (1 + kSame)) return true;
    allocation_ = kept;
    return false;
  }

  double rate() const {
    return steady_rate(costs_, allocation_.actors, limits_.limits.cpus, limits_.trainer_rate);
  }

  // The grown allocation, with as much of the job's prefetch as fits beside it.
  Allocation with_prefetch() const {
    Allocation all = allocation_;
    all.prefetch = description_.default_prefetch;
    return fitted(description_, shaped(description_, all), bounds_);
  }

 private:
  double slowest_rate() const {
    double slowest = costs_[0].rate(allocation_.actors[0]);
    for (std::size_t i = 1; i < costs_.size(); ++i) {
      slowest = std::min(slowest, costs_[i].rate(allocation_.actors[i]));
    }
    return slowest;
  }

  const PipelineDescription& description_;
  const std::vector<StageCost>& costs_;
  const PlanLimits& limits_;
  const Bounds bounds_;
  Allocation allocation_;
};

class Greedy final : public Policy {
 public:
  explicit Greedy(PipelineDescription description)
      : description_(std::move(description)), measured_(description_.stages.size(), kKept) {}

  std::string_view name() const override { return "greedy"; }

  Proposal decide(const Observation& seen) override {
    measured_.add(seen);
    if (!measured_.any_seen()) {
      return {.allocation = current_allocation_of(description_, seen),
              .reason = "nothing measured yet"};
    }
    const Limits limits{cpus_of(seen.limits), seen.limits.memory_bytes};
    const Plan plan =
        greedy_allocation(description_, measured_.costs(),
                          {.limits = limits, .trainer_rate = measured_.trainer_rate()});
    return {.allocation = plan.allocation,
            .expected_splits_per_second = plan.splits_per_second,
            .reason = "the slowest stage next, from measured rates"};
  }

 private:
  PipelineDescription description_;
  Measured measured_;
};

}  // namespace

Plan greedy_allocation(const PipelineDescription& description, const std::vector<StageCost>& costs,
                       const PlanLimits& limits) {
  Growth growth(description, costs, limits);
  while (growth.grow()) {
  }
  return {growth.with_prefetch(), growth.rate()};
}

std::unique_ptr<Policy> make_greedy(const PolicyContext& context) {
  return std::make_unique<Greedy>(context.description);
}

}  // namespace forebay::tuner
