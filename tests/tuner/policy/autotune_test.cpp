#include "tuner/policy/autotune.h"

#include "tests/tuner/policy/worked.h"
#include "tuner/plan/plan.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

TEST_CASE("a buffer makes its consumer wait by how often it is empty", "[tuner][policy]") {
  CHECK(buffer_wait_seconds(0, 1, 4) == 0);            // an infinitely fast producer
  CHECK(buffer_wait_seconds(2, 0, 4) == 2);            // an infinitely fast consumer
  CHECK(buffer_wait_seconds(2, 2, 3) == Approx(0.5));  // empty one time in n + 1
  // (1 - 1/2) / (1 - 1/8) = 4/7 of 2 s.
  CHECK(buffer_wait_seconds(2, 1, 2) == Approx(8.0 / 7));
  CHECK(buffer_wait_seconds(1e-300, 1e300, 100) == 0);
}

TEST_CASE("the model of two stages in a row", "[tuner][policy]") {
  const std::vector<MapStage> stages{{.seconds = 1, .parallelism = 2, .most = 8},
                                     {.seconds = 0.5, .parallelism = 1, .most = 8}};
  // The first puts one out every 0.5 s, as long as the second takes: 0.5 + 0.5 / 2.
  CHECK(modelled_output_seconds(stages) == Approx(0.75));
}

TEST_CASE("the hill climb ends when the modelled latency is below the machine's",
          "[tuner][policy]") {
  std::vector<MapStage> alone{{.seconds = 1, .most = 8}};
  climb(alone, 4);
  CHECK(alone[0].parallelism == 5);  // 1 / 4 s is not below 1 / 4 s
  climb(alone, 100);
  CHECK(alone[0].parallelism == 8);
}

TEST_CASE("the hill climb leaves the first stages far behind the last ones", "[tuner][policy]") {
  // The model takes a consumer to be as slow as all stages after it, so a slow first stage hides.
  const std::vector<StageCost> dlrm{{.seconds = 0.09},
                                    {.seconds = 0.06},
                                    {.seconds = 0.05},
                                    {.seconds = 0.23},
                                    {.seconds = 0.07}};
  const PolicyContext made = context_of(dlrm, 32);
  const Allocation set = first_answer("autotune", made, dlrm, 0.012);
  const double rate = steady_rate(dlrm, set.actors, 32, 1 / 0.012);
  CHECK(dlrm[0].rate(set.actors[0]) < dlrm[4].rate(set.actors[4]));
  // Measured with tf.data: 0.1 to 0.6 of the oracle, which has 64.
  CHECK(rate > 0.1 * 64);
  CHECK(rate < 64 / 2.29);  // InTune's own table
}

TEST_CASE("prefetch doubles when it was full and then empty", "[tuner][policy]") {
  PrefetchGrowth growth(16);
  CHECK(growth.wanted({.prefetch_empty = 5}) == 16);  // never full
  CHECK(growth.wanted({.prefetch_full = 2}) == 16);
  CHECK(growth.wanted({.prefetch_empty = 1}) == 32);
  growth.set(32);
  CHECK(growth.wanted({.prefetch_empty = 1}) == 32);  // not full again
  growth.set(2048);
  growth.wanted({.prefetch_full = 1});
  CHECK(growth.wanted({.prefetch_empty = 1}) == 4096);
  growth.set(4096);
  growth.wanted({.prefetch_full = 1});
  CHECK(growth.wanted({.prefetch_empty = 1}) == 6144);
}

TEST_CASE("autotune of 2022 grows its prefetch past any limit of memory", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}};
  const PolicyContext made = context_of(costs, 2, kGiB);  // room for 48 items beside one actor
  const auto policy = make_policy("autotune", made).value();
  Observation seen = exact(costs, one_each(made.description), made.limits, 0.1);
  for (int swing = 0; swing < 3; ++swing) {
    seen.prefetch_full = 1;
    policy->decide(seen);
    seen.prefetch_full = 0;
    seen.prefetch_empty = 1;
    policy->decide(seen);
  }
  CHECK(policy->decide(seen).allocation.prefetch == 128);
}

TEST_CASE("autotune of 2022 keeps to the CPUs and the means it began with", "[tuner][policy]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}};
  const PolicyContext made = context_of(costs, 4);
  const auto policy = make_policy("autotune", made).value();
  const Observation seen = exact(costs, one_each(made.description), {64, kGiB}, 0.001);
  CHECK(policy->decide(seen).allocation.actors[0] == 4);
}

}  // namespace
}  // namespace forebay::tuner
