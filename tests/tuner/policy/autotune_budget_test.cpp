#include "tests/tuner/policy/worked.h"
#include "tuner/plan/plan.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;
using Catch::Detail::Approx;

TEST_CASE("autotune-budget adds to the slowest stage until all are below the trainer's time",
          "[tuner][policy]") {
  // 0.1, 0.3 and 0.06 s against 0.05 s: 2, 6 and 2.
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.3}, {.seconds = 0.06}};
  CHECK(first_answer("autotune-budget", context_of(costs, 8), costs, 0.05) ==
        Allocation{{2, 6, 2}, 16});
}

TEST_CASE("autotune-budget ends when the slowest stage has the whole thread pool",
          "[tuner][policy]") {
  // 0.3 s on 4 threads is 0.075 s; the others are just below that by then.
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.3}, {.seconds = 0.06}};
  CHECK(first_answer("autotune-budget", context_of(costs, 4), costs, 0.01).actors ==
        Actors{2, 4, 1});
}

TEST_CASE("autotune-budget ends at the memory limit", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.3}};
  // Six actors of 1/4 GiB and two items of 1/64 GiB: 1 + 1, then the second's 2, 3 (equal then),
  // ...
  const PolicyContext made = context_of(costs, 8, 6 * kGiB / 4 + kGiB / 32);
  const Allocation set = first_answer("autotune-budget", made, costs, 0.001);
  CHECK(set.total_actors() == 6);
  CHECK(set.prefetch == 2);
  CHECK(worst_case_bytes(made.description, set) <= made.limits.memory_bytes);
}

TEST_CASE("autotune-budget is at the machine's limit where stages compute", "[tuner][policy]") {
  const std::vector<StageCost> dlrm{{.seconds = 0.09},
                                    {.seconds = 0.06},
                                    {.seconds = 0.05},
                                    {.seconds = 0.23},
                                    {.seconds = 0.07}};
  const Allocation set = first_answer("autotune-budget", context_of(dlrm, 32), dlrm, 0.012);
  CHECK(steady_rate(dlrm, set.actors, 32, 1 / 0.012) == Approx(64));
}

TEST_CASE("autotune-budget is at half of the oracle where a stage mostly waits",
          "[tuner][policy]") {
  // Loading of 1.2 s can have as many actors as there are CPUs, 32: 26.7 of 48 splits/s.
  const std::vector<StageCost> costs{{.seconds = 1.2, .cpu = 0.05, .max_rate = 48},
                                     {.seconds = 0.12},
                                     {.seconds = 0.2},
                                     {.seconds = 0.04}};
  const Allocation set = first_answer("autotune-budget", context_of(costs, 32), costs, 0.014);
  CHECK(steady_rate(costs, set.actors, 32, 1 / 0.014) == Approx(0.556 * 48).epsilon(0.01));
}

TEST_CASE("autotune-budget averages with weight 0.1 a split", "[tuner][policy]") {
  const std::vector<StageCost> fast{{.seconds = 0.1}};
  const std::vector<StageCost> slow{{.seconds = 0.9}};
  const PolicyContext made = context_of(fast, 64);
  const auto policy = make_policy("autotune-budget", made).value();
  policy->decide(exact(fast, one_each(made.description), made.limits, 0.05));
  Observation seen = exact(slow, one_each(made.description), made.limits, 0.05);
  seen.stages[0].done = 1;
  seen.stages[0].done_seconds = 0.9;
  // 0.9 * 0.1 + 0.1 * 0.9 = 0.18 s against 0.05 s.
  CHECK(policy->decide(seen).allocation.actors == Actors{4});
}

}  // namespace
}  // namespace forebay::tuner
