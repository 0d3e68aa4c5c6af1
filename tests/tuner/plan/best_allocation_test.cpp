#include "core/base/random.h"
#include "tuner/plan/plan.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

PipelineDescription description(std::size_t stages, std::uint32_t max_actors, std::uint64_t bytes) {
  PipelineDescription made;
  made.prefetch_item_bytes = 1;
  for (std::size_t i = 0; i < stages; ++i) {
    made.stages.push_back({"s" + std::to_string(i), max_actors, bytes});
  }
  return made;
}

PlanLimits machine(double cpus, std::uint64_t memory, double trainer_rate = 0) {
  return {.limits = {cpus, memory}, .trainer_rate = trainer_rate, .prefetch = 1};
}

// Every allocation of up to `most` actors a stage, tried.
Plan by_brute_force(const PipelineDescription& shape, const std::vector<StageCost>& costs,
                    const PlanLimits& limits, std::uint32_t most) {
  Plan best;
  Allocation tried = one_each(shape);
  tried.prefetch = limits.prefetch;
  while (true) {
    const double rate = steady_rate(costs, tried.actors, limits.limits.cpus, limits.trainer_rate);
    const bool fits = worst_case_bytes(shape, tried) <= limits.limits.memory_bytes;
    const bool same = rate >= best.splits_per_second * (1 - 1e-9) &&
                      tried.total_actors() < best.allocation.total_actors();
    if (fits && (rate > best.splits_per_second * (1 + 1e-9) || same)) best = {tried, rate};
    std::size_t i = 0;
    while (i < costs.size() && ++tried.actors[i] > most) tried.actors[i++] = 1;
    if (i == costs.size()) return best;
  }
}

TEST_CASE("a stage of twice the work gets twice the actors", "[tuner][plan]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}};
  const Plan plan = best_allocation(description(2, 64, 1), costs, machine(6, 1000));
  CHECK(plan.allocation.actors == std::vector<std::uint32_t>{2, 4});
  CHECK(plan.splits_per_second == Approx(20));  // 6 CPUs / 0.3 s
}

TEST_CASE("a plan has no more actors than the trainer needs", "[tuner][plan]") {
  const std::vector<StageCost> costs{{.seconds = 0.1}, {.seconds = 0.2}};
  const Plan plan = best_allocation(description(2, 64, 1), costs, machine(6, 1000, 10));
  CHECK(plan.allocation.actors == std::vector<std::uint32_t>{1, 2});
  CHECK(plan.splits_per_second == Approx(10));
}

TEST_CASE("a stage that slows itself down is left at its fastest", "[tuner][plan]") {
  // n / (1 + 0.01 n (n-1)) is largest at n = 10.
  const std::vector<StageCost> costs{{.seconds = 0.1, .beta = 0.01}};
  const Plan plan = best_allocation(description(1, 64, 1), costs, machine(1000, 1000));
  CHECK(plan.allocation.actors[0] == 10);
  CHECK(plan.splits_per_second == Approx(10 / (0.1 * 1.9)));
}

TEST_CASE("a stage that only loses by a second actor has one", "[tuner][plan]") {
  // n / (1 + 1.5 (n-1)) falls from the start, with nothing quadratic in it.
  const std::vector<StageCost> costs{{.seconds = 0.1, .alpha = 1.5}};
  const Plan plan = best_allocation(description(1, 64, 1), costs, machine(1000, 1000));
  CHECK(plan.allocation.actors[0] == 1);
  CHECK(plan.splits_per_second == Approx(10));
  CHECK(ActorsForRate(costs[0], 64).fewest(9) == 1);
}

TEST_CASE("the number of actors is 0 for a rate that cannot be reached", "[tuner][plan]") {
  CHECK(ActorsForRate({.seconds = 0.1, .beta = 0.01}, 64).fewest(60) == 0);
  CHECK(ActorsForRate({.seconds = 0.1, .max_rate = 5}, 64).fewest(6) == 0);
  CHECK(ActorsForRate({.seconds = 0.1}, 8).fewest(80) == 8);  // exactly 8 / 0.1
}

TEST_CASE("the fewest actors for a rate are those that counting up finds", "[tuner][plan]") {
  Random random(11);
  const auto either = [&random](double most) {
    return random.below(3) == 0 ? 0 : random.uniform() * most;
  };
  for (int i = 0; i < 20'000; ++i) {
    const StageCost cost{.seconds = 1e-4 + random.uniform(),
                         .alpha = either(1.3),
                         .beta = either(random.below(2) == 0 ? 0.5 : 0.01),
                         .max_rate = either(50)};
    const auto most = static_cast<std::uint32_t>(1 + random.below(64));
    const ActorsForRate actors(cost, most);
    const auto some = static_cast<double>(1 + random.below(most));
    // A rate that some number reaches exactly, or any other.
    const double rate =
        random.below(2) == 0 ? cost.rate(some) : cost.rate(some) * random.uniform() * 1.2;
    std::uint32_t counted = 1;
    while (counted < actors.fastest() && cost.rate(counted) < rate * (1 - 1e-9)) ++counted;
    const bool reached = cost.rate(counted) >= rate * (1 - 1e-9);
    REQUIRE(actors.fewest(rate) == (reached ? counted : 0));
  }
}

TEST_CASE("a plan equals the best of all allocations", "[tuner][plan]") {
  Random random(7);
  for (int trial = 0; trial < 300; ++trial) {
    const std::size_t stages = 2 + random.below(2);
    std::vector<StageCost> costs(stages);
    PipelineDescription shape = description(stages, 4 + random.below(5), 0);
    for (std::size_t i = 0; i < stages; ++i) {
      costs[i] = {.seconds = 0.02 + 0.2 * random.uniform(),
                  .cpu = random.below(3) == 0 ? 0.2 : 1.0,
                  .alpha = random.below(2) == 0 ? 0.1 * random.uniform() : 0,
                  .beta = random.below(2) == 0 ? 0.05 * random.uniform() : 0,
                  .max_rate = random.below(4) == 0 ? 5 + 30 * random.uniform() : 0};
      shape.stages[i].bytes_per_actor = 1 + random.below(10);
    }
    const PlanLimits limits = machine(1 + random.below(12), 30 + random.below(60),
                                      random.below(3) == 0 ? 4 + 20 * random.uniform() : 0);
    const Plan expected = by_brute_force(shape, costs, limits, shape.stages[0].max_actors);
    const Plan plan = best_allocation(shape, costs, limits);
    INFO("trial " << trial);
    CHECK(plan.splits_per_second == Approx(expected.splits_per_second).epsilon(1e-6));
    CHECK(plan.allocation.total_actors() == expected.allocation.total_actors());
  }
}

}  // namespace
}  // namespace forebay::tuner
