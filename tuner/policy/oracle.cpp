#include "tuner/policy/oracle.h"

#include <utility>

#include "tuner/fit.h"
#include "tuner/plan/best_allocation.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

class Oracle final : public Policy {
 public:
  explicit Oracle(const PolicyContext& context)
      : description_(context.description), truth_(context.truth) {}

  std::string_view name() const override { return "oracle"; }

  Proposal decide(const Observation& seen) override {
    const Truth truth = truth_();
    const Limits limits{cpus_of(seen.limits), seen.limits.memory_bytes};
    Plan best = best_allocation(description_, truth.costs,
                                {.limits = limits, .trainer_rate = truth.trainer_rate});
    best.allocation.prefetch = description_.default_prefetch;
    const Bounds bounds{.actors = description_.max_actors, .bytes = limits.memory_bytes};
    return {.allocation = fitted(description_, shaped(description_, best.allocation), bounds),
            .expected_splits_per_second = best.splits_per_second,
            .reason = "best for the true costs"};
  }

 private:
  PipelineDescription description_;
  std::function<Truth()> truth_;
};

}  // namespace

std::unique_ptr<Policy> make_oracle(const PolicyContext& context) {
  return std::make_unique<Oracle>(context);
}

}  // namespace forebay::tuner
