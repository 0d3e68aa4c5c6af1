#include "tuner/policy/measured.h"

#include "tests/tuner/policy/worked.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

// An interval of one stage: `done` splits of `seconds`, with a coefficient of variation.
Observation interval(std::uint64_t done, double seconds, double variation) {
  Observation seen;
  StageObservation stage;
  stage.actors = 1;
  stage.done = done;
  const auto splits = static_cast<double>(done);
  stage.done_seconds = splits * seconds;
  stage.done_seconds_squared = splits * seconds * seconds * (1 + variation * variation);
  stage.done_cpu_seconds = stage.done_seconds / 2;
  seen.stages.push_back(stage);
  return seen;
}

TEST_CASE("older intervals fade", "[tuner][policy]") {
  Measured measured(1, 0.5);
  measured.add(interval(100, 0.10, 1));
  measured.add(interval(100, 0.13, 1));
  // (50 * 0.10 + 100 * 0.13) / 150
  CHECK(measured.service(0) == Approx(0.12));
  CHECK(measured.cpu(0) == Approx(0.06));
}

TEST_CASE("intervals before a significant change are dropped", "[tuner][policy]") {
  Measured measured(1, 0.9);
  measured.add(interval(100, 0.1, 1));
  measured.add(interval(100, 0.4, 1));  // standard error 0.4 * sqrt(1/50): five of them
  CHECK(measured.service(0) == Approx(0.4));
}

TEST_CASE("a difference that can be chance is averaged", "[tuner][policy]") {
  Measured measured(1, 1);
  measured.add(interval(4, 0.1, 1));
  measured.add(interval(4, 0.2, 1));
  CHECK(measured.service(0) == Approx(0.15));
}

TEST_CASE("an interval without a completed split keeps the estimate", "[tuner][policy]") {
  Measured measured(1, 0.5);
  measured.add(interval(10, 0.1, 0));
  measured.add(Observation{});
  CHECK(measured.service(0) == Approx(0.1));
  CHECK(measured.all_seen());
}

TEST_CASE("the estimate of a split that is not completed grows with the time it has taken",
          "[tuner][policy]") {
  Measured measured(1, 0.5);
  measured.add(interval(10, 0.1, 0));
  Observation stuck;
  stuck.stages.push_back({.actors = 2, .working_seconds = 4});
  measured.add(stuck);
  CHECK(measured.service(0) == Approx(2));
  CHECK(measured.cpu(0) == Approx(1));  // as large a share as before
  measured.add(interval(1, 0.1, 0));
  CHECK(measured.service(0) == Approx(0.1));
}

TEST_CASE("the trainer's rate is of the time it worked, in splits", "[tuner][policy]") {
  CHECK(trainer_rate_of(Observation{
            .trainer_steps = 10, .splits_per_item = 2, .trainer_step_seconds = 4}) == Approx(5));
  CHECK(trainer_rate_of(Observation{}) == 0);
}

TEST_CASE("a trainer that only waits has no rate that bounds the stages", "[tuner][policy]") {
  Measured measured(1, 0.5);
  measured.add({.trainer_steps = 10, .trainer_step_seconds = 2});
  CHECK(measured.trainer_rate() == Approx(5));
  measured.add({.trainer_steps = 0, .trainer_wait_seconds = 2});
  CHECK(measured.trainer_rate() == Approx(5));  // no splits, so nothing new
  measured.add({.trainer_steps = 10, .trainer_wait_seconds = 2});
  CHECK(measured.trainer_rate() == 0);
}

}  // namespace
}  // namespace forebay::tuner
