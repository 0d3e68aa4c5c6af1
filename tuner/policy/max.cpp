#include "tuner/policy/max.h"

#include <algorithm>

#include "tuner/fit.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

class Max final : public Policy {
 public:
  explicit Max(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "max"; }

  Proposal decide(const Observation& seen) override {
    Allocation most = one_each(description_);
    std::fill(most.actors.begin(), most.actors.end(), whole_cpus_of(seen.limits));
    return {.allocation = shaped(description_, most),
            .reason = "as many actors as CPUs everywhere"};
  }

 private:
  PipelineDescription description_;
};

}  // namespace

std::unique_ptr<Policy> make_max(const PolicyContext& context) {
  return std::make_unique<Max>(context.description);
}

}  // namespace forebay::tuner
