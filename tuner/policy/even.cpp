#include "tuner/policy/even.h"

#include "tuner/fit.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

class Even final : public Policy {
 public:
  explicit Even(PipelineDescription description) : description_(std::move(description)) {}

  std::string_view name() const override { return "even"; }

  Proposal decide(const Observation& seen) override {
    const std::uint32_t cpus = whole_cpus_of(seen.limits);
    const auto stages = static_cast<std::uint32_t>(description_.stages.size());
    Allocation even = one_each(description_);
    for (std::uint32_t i = 0; i < stages; ++i) {
      even.actors[i] = cpus / stages + (i < cpus % stages ? 1 : 0);
    }
    return {.allocation = shaped(description_, even), .reason = "CPUs shared evenly"};
  }

 private:
  PipelineDescription description_;
};

}  // namespace

std::unique_ptr<Policy> make_even(const PolicyContext& context) {
  return std::make_unique<Even>(context.description);
}

}  // namespace forebay::tuner
