#include "tuner/policy/one.h"

#include "tuner/fit.h"

namespace forebay::tuner {
namespace {

class One final : public Policy {
 public:
  explicit One(Allocation allocation) : allocation_(std::move(allocation)) {}

  std::string_view name() const override { return "one"; }

  Proposal decide(const Observation&) override {
    return {.allocation = allocation_, .reason = "one actor a stage"};
  }

 private:
  Allocation allocation_;
};

}  // namespace

std::unique_ptr<Policy> make_one(const PolicyContext& context) {
  return std::make_unique<One>(shaped(context.description, one_each(context.description)));
}

}  // namespace forebay::tuner
