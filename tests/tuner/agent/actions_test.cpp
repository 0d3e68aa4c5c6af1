#include "tuner/agent/agent.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription two_stages(std::uint64_t fixed) {
  PipelineDescription description;
  description.stages = {{"load", 8, 10}, {"decode", 8, 10}};
  description.max_prefetch = 16;
  description.prefetch_item_bytes = 5;
  description.fixed_bytes = fixed;
  return description;
}

const Limits kLimits{.cpus = 8, .memory_bytes = 200};

// Outputs: -5, -1, +1, +5, then prefetch ÷2, ×2.
constexpr Outputs kNothing{0, 0, 0, 0, 0, 0};

TEST_CASE("an action is taken when it promises more than the margin", "[tuner][agent]") {
  Outputs wants = kNothing;
  wants[2] = 0.6F;
  const std::vector<Outputs> outputs{kNothing, wants};
  CHECK(best_actions(outputs, {}, 0.5F).steps == std::vector<std::uint8_t>{0, 3});
  CHECK(best_actions(outputs, {}, 0.7F).steps == std::vector<std::uint8_t>{0, 0});
}

TEST_CASE("a standing action stays until another is better by the margin", "[tuner][agent]") {
  Outputs row = kNothing;
  row[2] = 0.3F;
  row[3] = 0.5F;
  const Actions current{.steps = {3}, .prefetch = 0};
  CHECK(best_actions(std::vector<Outputs>{row}, current, 0.5F).steps[0] == 3);
  row[3] = 0.9F;
  CHECK(best_actions(std::vector<Outputs>{row}, current, 0.5F).steps[0] == 4);
}

TEST_CASE("prefetch follows the mean of the stages' rows", "[tuner][agent]") {
  Outputs one = kNothing;
  one[5] = 1.2F;
  CHECK(best_actions(std::vector<Outputs>{one, one}, {}, 0.5F).prefetch == 2);
  CHECK(best_actions(std::vector<Outputs>{one, kNothing, kNothing}, {}, 0.5F).prefetch == 0);
}

TEST_CASE("steps end at one actor and at a stage's bound", "[tuner][agent]") {
  const Allocation base{.actors = {2, 6}, .prefetch = 4};
  const Allocation next = applied(two_stages(0), kLimits, base, {.steps = {1, 4}, .prefetch = 1});
  CHECK(next.actors == std::vector<std::uint32_t>{1, 8});
  CHECK(next.prefetch == 2);
}

TEST_CASE("where memory does not suffice, prefetch shrinks first, then the last stages",
          "[tuner][agent]") {
  const Allocation base{.actors = {2, 2}, .prefetch = 8};
  const Actions grow{.steps = {3, 4}, .prefetch = 0};
  CHECK(applied(two_stages(80), kLimits, base, grow).prefetch == 4);  // 80 + 100 + 4·5
  CHECK(applied(two_stages(80), kLimits, base, grow).actors == std::vector<std::uint32_t>{3, 7});
  CHECK(applied(two_stages(140), kLimits, base, grow).actors == std::vector<std::uint32_t>{3, 2});
}

}  // namespace
}  // namespace forebay::tuner
