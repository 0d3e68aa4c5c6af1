#include "tests/tuner/policy/worked.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Actors = std::vector<std::uint32_t>;

// An interval of 1 s in which stages of `actors` worked these shares of their time.
Observation busy(const Actors& actors, const std::vector<double>& shares, double cpus) {
  Observation seen;
  seen.seconds = 1;
  seen.limits = {cpus, 1024 * kGiB};
  for (std::size_t i = 0; i < actors.size(); ++i) {
    StageObservation stage;
    stage.actors = actors[i];
    stage.actor_seconds = actors[i];
    stage.working_seconds = shares[i] * actors[i];
    stage.queue_fill = 0.5;
    seen.stages.push_back(stage);
  }
  return seen;
}

Actors next(const Observation& seen) {
  const std::vector<StageCost> costs(seen.stages.size(), StageCost{.seconds = 0.1});
  const auto policy = make_policy("threshold", context_of(costs, seen.limits.cpus)).value();
  return policy->decide(seen).allocation.actors;
}

TEST_CASE("above 0.8 busy a stage grows to 0.8, below 0.5 it loses an actor", "[tuner][policy]") {
  CHECK(next(busy({10, 10, 10}, {1.0, 0.6, 0.4}, 100)) == Actors{13, 10, 9});  // 10 / 0.8 = 12.5
  CHECK(next(busy({10, 10, 10}, {0.81, 0.8, 0.5}, 100)) == Actors{11, 10, 10});
  CHECK(next(busy({1, 1, 1}, {1.0, 0.1, 0.6}, 100)) == Actors{2, 1, 1});
}

TEST_CASE("a busy stage without queued input gets no actor", "[tuner][policy]") {
  Observation seen = busy({10, 10}, {0.6, 0.9}, 100);
  seen.stages[0].queue_fill = 0;
  CHECK(next(seen) == Actors{10, 10});
}

TEST_CASE("each actor takes a CPU, and the last stage asks first", "[tuner][policy]") {
  // 24 of 25 are taken; every stage wants two more.
  CHECK(next(busy({8, 8, 8}, {1.0, 1.0, 1.0}, 25)) == Actors{8, 8, 9});
  CHECK(next(busy({8, 8, 8}, {1.0, 1.0, 1.0}, 24)) == Actors{8, 8, 8});
}

TEST_CASE("half of the CPUs is reserved in equal parts", "[tuner][policy]") {
  // Of 24 CPUs 4 are each stage's: the last one may have 16, though it would take 20.
  CHECK(next(busy({1, 1, 16}, {0.6, 0.6, 1.0}, 24)) == Actors{1, 1, 16});
  CHECK(next(busy({3, 1, 16}, {1.0, 0.6, 1.0}, 24)) == Actors{4, 1, 16});
}

}  // namespace
}  // namespace forebay::tuner
