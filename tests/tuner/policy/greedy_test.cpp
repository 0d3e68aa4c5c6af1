#include "tests/tuner/policy/worked.h"
#include "tuner/policy/adaptive.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;
using Catch::Detail::Approx;

const std::vector<StageCost> kDlrm{
    {.seconds = 0.09}, {.seconds = 0.06}, {.seconds = 0.05}, {.seconds = 0.23}, {.seconds = 0.07}};

TEST_CASE("greedy plans the whole allocation at its first decision", "[tuner][policy]") {
  // intune-dlrm: the machine's limit is 32 / 0.5 s = 64 splits/s, which takes 5.76, 3.84, 3.2,
  // 14.72 and 4.48 actors.
  CHECK(first_answer("greedy", context_of(kDlrm, 32), kDlrm, 0.012) ==
        Allocation{{6, 4, 4, 15, 5}, 16});
}

TEST_CASE("greedy stops where the trainer is fed", "[tuner][policy]") {
  // A trainer of 20 splits/s takes 1.8, 1.2, 1, 4.6 and 1.4 actors.
  CHECK(first_answer("greedy", context_of(kDlrm, 32), kDlrm, 0.05).actors == Actors{2, 2, 1, 5, 2});
}

TEST_CASE("greedy stops where the next actor does not fit, and cuts prefetch to fit",
          "[tuner][policy]") {
  // Ten actors of 1/4 GiB and two items of 1/64 GiB.
  const PolicyContext made = context_of(kDlrm, 32, 10 * kGiB / 4 + kGiB / 32);
  // By the least rate: 4.3 (udf), 8.7, 11.1 (load), 13.0, 14.3 (copy): five more.
  CHECK(first_answer("greedy", made, kDlrm, 0.012) == Allocation{{2, 1, 1, 4, 2}, 2});
}

TEST_CASE("greedy leaves out the wait for a CPU", "[tuner][policy]") {
  const PolicyContext made = context_of(kDlrm, 32);
  Observation crowded = exact(kDlrm, one_each(made.description), made.limits, 0.012);
  for (StageObservation& stage : crowded.stages) {
    stage.done_ready_seconds = 0.5 * stage.done_seconds;
    stage.done_seconds += stage.done_ready_seconds;
  }
  CHECK(make_policy("greedy", made).value()->decide(crowded).allocation.actors ==
        Actors{6, 4, 4, 15, 5});
}

TEST_CASE("greedy follows work that has changed at its next decision", "[tuner][policy]") {
  const PolicyContext made = context_of(kDlrm, 32);
  const auto policy = make_policy("greedy", made).value();
  for (int decision = 0; decision < 10; ++decision) {
    policy->decide(exact(kDlrm, one_each(made.description), made.limits, 0.012));
  }
  std::vector<StageCost> slower = kDlrm;
  slower[3].seconds *= 4;
  const auto after = policy->decide(exact(slower, one_each(made.description), made.limits, 0.012));
  CHECK(after.allocation == first_answer("greedy", made, slower, 0.012));
}

TEST_CASE("greedy takes a stage that it has not seen for an average one", "[tuner][policy]") {
  const std::vector<StageCost> costs(3, StageCost{.seconds = 0.1});
  const PolicyContext made = context_of(costs, 12);
  Observation seen = exact(costs, one_each(made.description), made.limits, 0.001);
  seen.stages[2] = {.actors = 1};
  CHECK(make_policy("greedy", made).value()->decide(seen).allocation.actors == Actors{4, 4, 4});
  // Or for a slower one if its actor has worked on the first split for longer.
  seen.stages[2].working_seconds = 0.4;
  CHECK(make_policy("greedy", made).value()->decide(seen).allocation.actors == Actors{2, 2, 8});
}

TEST_CASE("with exact costs greedy adds to all of several slowest stages at once",
          "[tuner][policy]") {
  // Alone neither would raise the rate.
  const std::vector<StageCost> costs(6, StageCost{.seconds = 0.08});
  const PolicyContext made = context_of(costs, 48);
  const Plan plan = greedy_allocation(made.description, costs, {.limits = made.limits});
  CHECK(plan.allocation.actors == Actors(6, 8));
  CHECK(plan.splits_per_second == Approx(100));
}

}  // namespace
}  // namespace forebay::tuner
