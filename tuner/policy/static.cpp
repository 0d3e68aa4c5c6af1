#include "tuner/policy/static.h"

#include "tuner/fit.h"

namespace forebay::tuner {
namespace {

class Static final : public Policy {
 public:
  explicit Static(Allocation allocation) : allocation_(std::move(allocation)) {}

  std::string_view name() const override { return "static"; }

  Proposal decide(const Observation&) override {
    return {.allocation = allocation_, .reason = "as the job file says"};
  }

 private:
  Allocation allocation_;
};

}  // namespace

std::unique_ptr<Policy> make_static(const PolicyContext& context) {
  const bool given = !context.fixed.actors.empty();
  return std::make_unique<Static>(
      shaped(context.description, given ? context.fixed : one_each(context.description)));
}

}  // namespace forebay::tuner
