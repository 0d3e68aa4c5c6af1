// Policies that plan from the declared costs, or once.

#include "tests/tuner/policy/worked.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;

TEST_CASE("static proposes the job's allocation from its first decision on", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}};
  PolicyContext made = context_of(costs, 8);
  CHECK(first_answer("static", made, costs, 0.01) == Allocation{{1, 1}, 16});
  made.fixed = {.actors = {3, 5}, .prefetch = 4};
  CHECK(first_answer("static", made, costs, 0.01) == Allocation{{3, 5}, 4});
}

TEST_CASE("one is one actor a stage and the job's prefetch", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}};
  CHECK(first_answer("one", context_of(costs, 8), costs, 0.01) == Allocation{{1, 1}, 16});
}

TEST_CASE("even gives the remainder to the first stages", "[tuner][policy]") {
  const std::vector<StageCost> costs(5, StageCost{.seconds = 0.1});
  // 48 / 5 = 9 each, 3 over; as decode-heavy.
  CHECK(first_answer("even", context_of(costs, 48), costs, 0.01) ==
        Allocation{{10, 10, 10, 9, 9}, 16});
  CHECK(first_answer("even", context_of(costs, 3), costs, 0.01).actors == Actors{1, 1, 1, 1, 1});
}

TEST_CASE("even and max follow the number of CPUs", "[tuner][policy]") {
  const std::vector<StageCost> costs(2, StageCost{.seconds = 0.1});
  const PolicyContext made = context_of(costs, 8);
  const Observation grown = exact(costs, one_each(made.description), {20, kGiB}, 0.01);
  CHECK(make_policy("even", made).value()->decide(grown).allocation.actors == Actors{10, 10});
  CHECK(make_policy("max", made).value()->decide(grown).allocation.actors == Actors{20, 20});
}

TEST_CASE("max stays within a stage's own bound", "[tuner][policy]") {
  const std::vector<StageCost> costs(2, StageCost{.seconds = 0.1});
  PolicyContext made = context_of(costs, 64);
  made.description.stages[1].max_actors = 1;
  CHECK(first_answer("max", made, costs, 0.01) == Allocation{{64, 1}, 16});
}

TEST_CASE("proportional divides the CPUs by the first whole profile and keeps to that",
          "[tuner][policy]") {
  // 32 CPUs by 0.09 : 0.06 : 0.05 : 0.23 : 0.07 of 0.50 s are 5.76, 3.84, 3.2, 14.72 and 4.48:
  // rounded down 29, and the three largest remainders are .84, .76 and .72.
  const std::vector<StageCost> costs{{.seconds = 0.09},
                                     {.seconds = 0.06},
                                     {.seconds = 0.05},
                                     {.seconds = 0.23},
                                     {.seconds = 0.07}};
  const PolicyContext made = context_of(costs, 32);
  const auto policy = make_policy("proportional", made).value();
  Observation partial = exact(costs, one_each(made.description), made.limits, 0.01);
  partial.stages[4] = {.actors = 1};
  CHECK(policy->decide(partial).allocation.actors == Actors{1, 1, 1, 1, 1});
  const Observation whole = exact(costs, one_each(made.description), made.limits, 0.01);
  CHECK(policy->decide(whole).allocation.actors == Actors{6, 4, 3, 15, 4});
  const std::vector<StageCost> other(5, StageCost{.seconds = 0.1});
  const Observation changed = exact(other, one_each(made.description), made.limits, 0.01);
  CHECK(policy->decide(changed).allocation.actors == Actors{6, 4, 3, 15, 4});
}

TEST_CASE("proportional never leaves a stage without an actor", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.001}, {.seconds = 1}};
  CHECK(first_answer("proportional", context_of(costs, 8), costs, 0.01).actors == Actors{1, 8});
}

TEST_CASE("the oracle plans with the current true costs, not with measurements",
          "[tuner][policy]") {
  const std::vector<StageCost> seen(2, StageCost{.seconds = 0.1});
  PolicyContext made = context_of(seen, 6);
  double second = 0.2;
  made.truth = [&] { return Truth{.costs = {{.seconds = 0.1}, {.seconds = second}}}; };
  const auto policy = make_policy("oracle", made).value();
  const Observation any = exact(seen, one_each(made.description), made.limits, 0.001);
  CHECK(policy->decide(any).allocation == Allocation{{2, 4}, 16});  // 6 CPUs as 1 : 2
  second = 0.1;
  CHECK(policy->decide(any).allocation == Allocation{{3, 3}, 16});
}

TEST_CASE("the oracle's prefetch fills the memory beside the best actors", "[tuner][policy]") {
  const std::vector<StageCost> costs(2, StageCost{.seconds = 0.1});
  // Six actors of 1/4 GiB leave 1/8 GiB: eight items of 1/64 GiB.
  PolicyContext made = context_of(costs, 6, 6 * kGiB / 4 + kGiB / 8);
  made.truth = [&] { return Truth{.costs = costs}; };
  CHECK(first_answer("oracle", made, costs, 0.001) == Allocation{{3, 3}, 8});
}

}  // namespace
}  // namespace forebay::tuner
