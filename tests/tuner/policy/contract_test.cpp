// Inputs that every policy has to survive.

#include <array>
#include <cmath>
#include <limits>

#include "core/base/random.h"
#include "tests/tuner/policy/worked.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

const std::vector<StageCost> kCosts{
    {.seconds = 0.1}, {.seconds = 0.3, .cpu = 0.5}, {.seconds = 0.05}};

PolicyContext context() {
  PolicyContext made = context_of(kCosts, 16);
  made.truth = [] { return Truth{.costs = kCosts, .trainer_rate = 50}; };
  return made;
}

// All policies by name, made for one context.
std::vector<std::unique_ptr<Policy>> every_policy(const PolicyContext& made) {
  std::vector<std::unique_ptr<Policy>> all;
  for (const PolicyInfo& info : policies()) all.push_back(make_policy(info.name, made).value());
  return all;
}

void check_usable(const Policy& policy, const PolicyContext& made, const Proposal& proposal) {
  INFO("policy " << policy.name());
  REQUIRE(proposal.allocation.actors.size() == made.description.stages.size());
  for (const std::uint32_t actors : proposal.allocation.actors) CHECK(actors >= 1);
  CHECK(proposal.allocation.prefetch >= 1);
  CHECK(std::isfinite(proposal.expected_splits_per_second));
  CHECK(proposal.expected_splits_per_second >= 0);
  CHECK_FALSE(proposal.reason.empty());
}

double wild_number(Random& random) {
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr std::array kWild{0.0,   -1.0,      1e-300,
                                    1e300, kInfinity, -kInfinity,
                                    0.5,   40.0,      std::numeric_limits<double>::quiet_NaN()};
  return kWild[random.below(kWild.size())];
}

std::uint64_t wild_count(Random& random) {
  static constexpr std::array<std::uint64_t, 5> kWild{0, 1, 100, 1ULL << 40, ~0ULL};
  return kWild[random.below(kWild.size())];
}

StageObservation wild_stage(Random& random) {
  StageObservation stage;
  stage.actors = static_cast<std::uint32_t>(wild_count(random));
  stage.leaving = static_cast<std::uint32_t>(wild_count(random));
  for (double* number : {&stage.actor_seconds, &stage.working_seconds, &stage.input_wait_seconds,
                         &stage.output_wait_seconds, &stage.cpu_seconds, &stage.done_seconds,
                         &stage.done_seconds_squared, &stage.done_cpu_seconds,
                         &stage.done_ready_seconds, &stage.done_actors, &stage.queue_fill}) {
    *number = wild_number(random);
  }
  stage.done = wild_count(random);
  stage.queued_bytes = wild_count(random);
  return stage;
}

Observation wild(Random& random) {
  Observation seen;
  seen.stages.resize(random.below(6));  // not always the number of the pipeline
  for (StageObservation& stage : seen.stages) stage = wild_stage(random);
  for (double* number : {&seen.at_seconds, &seen.seconds, &seen.limits.cpus, &seen.splits_per_item,
                         &seen.trainer_step_seconds, &seen.trainer_wait_seconds,
                         &seen.other_cpu_seconds, &seen.prefetch_fill}) {
    *number = wild_number(random);
  }
  seen.limits.memory_bytes = wild_count(random);
  seen.trainer_steps = wild_count(random);
  seen.prefetch = static_cast<std::uint32_t>(wild_count(random));
  seen.prefetch_full = wild_count(random);
  seen.prefetch_empty = wild_count(random);
  seen.memory_bytes = wild_count(random);
  return seen;
}

TEST_CASE("every policy answers to its name and describes itself", "[tuner][policy]") {
  for (const PolicyInfo& info : policies()) {
    CHECK(make_policy(info.name, context()).value()->name() == info.name);
    CHECK_FALSE(info.summary.empty());
    CHECK_FALSE(info.source.empty());
  }
}

TEST_CASE("every policy goes on through intervals in which nothing happened", "[tuner][policy]") {
  const PolicyContext made = context();
  for (const auto& policy : every_policy(made)) {
    for (int decision = 0; decision < 5; ++decision) {
      check_usable(*policy, made, policy->decide(Observation{.limits = made.limits}));
      check_usable(*policy, made, policy->decide(Observation{}));  // not even limits
    }
  }
}

TEST_CASE("every policy follows changed limits and stays within them", "[tuner][policy]") {
  const PolicyContext made = context();
  for (const auto& policy : every_policy(made)) {
    for (const double cpus : {16.0, 1.0, 0.0, 1000.0, 2.5}) {
      const Limits limits{cpus, made.limits.memory_bytes};
      const Proposal proposal =
          policy->decide(exact(kCosts, one_each(made.description), limits, 0.02));
      check_usable(*policy, made, proposal);
      for (const std::uint32_t actors : proposal.allocation.actors) CHECK(actors <= 128);
    }
  }
}

TEST_CASE("every policy survives an impossible observation", "[tuner][policy]") {
  const PolicyContext made = context();
  for (const auto& policy : every_policy(made)) {
    Random random(7);
    for (int decision = 0; decision < 300; ++decision) {
      check_usable(*policy, made, policy->decide(wild(random)));
    }
    // It still decides well on a valid observation.
    const Observation sane = exact(kCosts, one_each(made.description), made.limits, 0.02);
    check_usable(*policy, made, policy->decide(sane));
  }
}

TEST_CASE("every policy decides the same from the same observations", "[tuner][policy]") {
  const PolicyContext made = context();
  const auto first = every_policy(made);
  const auto second = every_policy(made);
  for (std::size_t i = 0; i < first.size(); ++i) {
    Random one(3);
    Random two(3);
    for (int decision = 0; decision < 50; ++decision) {
      CHECK(first[i]->decide(wild(one)).allocation == second[i]->decide(wild(two)).allocation);
    }
  }
}

TEST_CASE("a policy that does not exist is named beside the nearest that does", "[tuner][policy]") {
  const auto made = make_policy("greddy", context());
  REQUIRE_FALSE(made);
  CHECK(made.error().code == Code::kInvalid);
  CHECK(made.error().message ==
        "no policy is called 'greddy'; the nearest is 'greedy'; see forebay tune --policies");
}

TEST_CASE("a policy names the input that it lacks", "[tuner][policy]") {
  PolicyContext lacking = context();
  lacking.truth = {};
  CHECK(make_policy("oracle", lacking).error().message.find("true costs") != std::string::npos);
  lacking.fixed.actors = {1, 2};
  CHECK(make_policy("static", lacking).error().message.find("2 stages for a pipeline of 3") !=
        std::string::npos);
  CHECK_FALSE(make_policy("one", PolicyContext{}));
}

}  // namespace
}  // namespace forebay::tuner
