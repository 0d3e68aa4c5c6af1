#include "tuner/policy/autotune_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "tuner/fit.h"
#include "tuner/policy/measured.h"
#include "tuner/policy/prefetch_growth.h"

namespace forebay::tuner {
namespace {

constexpr double kWeight = 0.1;  // Of the newest split in a stage's time.

class AutotuneBudget final : public Policy {
 public:
  explicit AutotuneBudget(PipelineDescription description)
      : description_(std::move(description)),
        times_(description_.stages.size()),
        prefetch_(description_.default_prefetch) {}

  std::string_view name() const override { return "autotune-budget"; }

  Proposal decide(const Observation& seen) override {
    note(seen);
    const Bounds bounds{.actors = description_.max_actors, .bytes = seen.limits.memory_bytes};
    Allocation plan = one_each(description_);
    plan.prefetch = 1;
    while (grow(plan, whole_cpus_of(seen.limits), bounds)) {
    }
    plan.prefetch = prefetch_.wanted(seen);
    plan = fitted(description_, shaped(description_, plan), bounds);
    prefetch_.set(plan.prefetch);
    return {.allocation = plan, .reason = "the slowest stage next, until the trainer is fed"};
  }

 private:
  void note(const Observation& seen) {
    for (std::size_t i = 0; i < times_.size(); ++i) {
      const Work work = work_of(seen, i);
      if (!work.seen()) continue;
      const double kept = times_[i] > 0 ? std::pow(1 - kWeight, work.splits) : 0;
      times_[i] = kept * times_[i] + (1 - kept) * work.wall();
    }
    if (const double rate = trainer_rate_of(seen); rate > 0) target_ = 1 / rate;
  }

  // Adds an actor to the slowest stage; returns false without a change if that is not needed or not
  // possible.
  bool grow(Allocation& plan, std::uint32_t cpus, const Bounds& bounds) const {
    std::size_t slowest = 0;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      if (times_[i] / plan.actors[i] > times_[slowest] / plan.actors[slowest]) slowest = i;
    }
    std::uint32_t& actors = plan.actors[slowest];
    if (times_[slowest] / actors <= target_) return false;
    if (actors >= std::min(cpus, description_.stages[slowest].max_actors)) return false;
    ++actors;
    if (within(description_, plan, bounds)) return true;
    --actors;
    return false;
  }

  PipelineDescription description_;
  std::vector<double> times_;  // Seconds a split, by stage; 0: unknown.
  double target_ = 0;          // Seconds the trainer takes for a split; 0: unknown.
  PrefetchGrowth prefetch_;
};

}  // namespace

std::unique_ptr<Policy> make_autotune_budget(const PolicyContext& context) {
  return std::make_unique<AutotuneBudget>(context.description);
}

}  // namespace forebay::tuner
