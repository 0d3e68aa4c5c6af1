#include "tuner/policy/even.h"

#include "tuner/fit.h"
#include "tuner/policy/measured.h"

namespace forebay::tuner {
namespace {

class Even final : public Policy {
 public:
  explicit Even(PipelineDescription layout) : layout_(std::move(layout)) {}

  std::string_view name() const override { return "even"; }

  Proposal decide(const Observation& seen) override {
    const std::uint32_t cpus = whole_cpus_of(seen.limits);
    const auto stages = static_cast<std::uint32_t>(layout_.stages.size());
    Allocation even = one_each(layout_);
    for (std::uint32_t i = 0; i < stages; ++i) {
      even.actors[i] = cpus / stages + (i < cpus % stages ? 1 : 0);
    }
    return {.allocation = shaped(layout_, even), .reason = "CPUs shared evenly"};
  }

 private:
  PipelineDescription layout_;
};

}  // namespace

std::unique_ptr<Policy> make_even(const PolicyContext& context) {
  return std::make_unique<Even>(context.layout);
}

}  // namespace forebay::tuner
