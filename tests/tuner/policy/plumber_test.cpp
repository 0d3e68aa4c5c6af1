#include "tests/tuner/policy/worked.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;
using Catch::Detail::Approx;

Proposal first(const PolicyContext& made, const std::vector<StageCost>& costs) {
  return make_policy("plumber", made)
      .value()
      ->decide(exact(costs, one_each(made.description), made.limits, 0.001));
}

TEST_CASE("plumber divides the CPUs in proportion to CPU time a split", "[tuner][policy]") {
  // theta = X / R with X = 12 / (0.1 + 0.2 + 0.3 s) = 20 splits/s: 2, 4 and 6 CPUs.
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}, {.seconds = 0.3}};
  const Proposal plan = first(context_of(costs, 12), costs);
  CHECK(plan.allocation == Allocation{{2, 4, 6}, 16});
  CHECK(plan.expected_splits_per_second == Approx(20));
}

TEST_CASE("plumber rounds every share up", "[tuner][policy]") {
  // X = 10 / 0.6 = 16.7: 1.67, 3.33 and 5.
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}, {.seconds = 0.3}};
  CHECK(first(context_of(costs, 10), costs).allocation.actors == Actors{2, 4, 5});
}

TEST_CASE("a sequential stage ends plumber's plan for all stages", "[tuner][policy]") {
  // At most 1 CPU of 0.2 s a split: 5 splits/s, for which 0.5 and 1.5 CPUs are enough elsewhere.
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}, {.seconds = 0.3}};
  PolicyContext made = context_of(costs, 12);
  made.description.stages[1].max_actors = 1;
  const Proposal plan = first(made, costs);
  CHECK(plan.allocation.actors == Actors{1, 1, 2});
  CHECK(plan.expected_splits_per_second == Approx(5));
}

TEST_CASE("plumber counts CPU time only: a stage that waits gets too few", "[tuner][policy]") {
  // io-wait with its waiting second: CPU 0.12, 0.06, 0.2 and 0.04 s, X = 24 / 0.42 = 57: 6.9, 3.4,
  // 11.4 and 2.3 CPUs. To keep 57 splits/s of 1.2 s in flight takes 69.
  const std::vector<StageCost> costs{
      {.seconds = 0.12}, {.seconds = 1.2, .cpu = 0.05}, {.seconds = 0.2}, {.seconds = 0.04}};
  CHECK(first(context_of(costs, 24), costs).allocation.actors == Actors{7, 4, 12, 3});
}

TEST_CASE("plumber gives its reading first stage the actors that keep the rate in flight",
          "[tuner][policy]") {
  const std::vector<StageCost> costs{
      {.seconds = 1.2, .cpu = 0.05}, {.seconds = 0.12}, {.seconds = 0.2}, {.seconds = 0.04}};
  CHECK(first(context_of(costs, 24), costs).allocation.actors == Actors{69, 7, 12, 3});
}

}  // namespace
}  // namespace forebay::tuner
