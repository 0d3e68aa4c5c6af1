#include "tuner/model/pipeline_estimate.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

PipelineDescription two_stages() {
  PipelineDescription description;
  description.stages = {{"load", 64, 1}, {"decode", 64, 1}};
  return description;
}

StageObservation done(std::uint64_t splits, double seconds) {
  StageObservation seen;
  const auto count = static_cast<double>(splits);
  seen.actors = 1;
  seen.actor_seconds = 2;
  seen.working_seconds = seen.done_seconds = seen.done_cpu_seconds = count * seconds;
  seen.done_seconds_squared = count * seconds * seconds;
  seen.done = splits;
  seen.done_actors = count;
  return seen;
}

Observation interval() {
  Observation seen;
  seen.seconds = 2;
  seen.limits = {8, 1000};
  seen.stages = {done(20, 0.1), done(20, 0.05)};
  seen.trainer_steps = 20;
  seen.trainer_step_seconds = 0.4;
  return seen;
}

TEST_CASE("the trainer's rate leaves its waiting out", "[tuner][model]") {
  PipelineEstimate known(two_stages());
  known.observe(interval());
  CHECK(known.trainer_rate() == Approx(50));  // 20 steps in 0.4 s
}

TEST_CASE("a stage without a finished split is assumed to be like the others, or slower",
          "[tuner][model]") {
  PipelineEstimate known(two_stages());
  Observation seen = interval();
  seen.stages[1].done = 0;
  seen.stages[1].working_seconds = 0.01;
  known.observe(seen);
  CHECK(known.mean()[1].seconds == Approx(0.1).epsilon(0.05));

  PipelineEstimate slow(two_stages());
  seen.stages[1].working_seconds = 2;
  slow.observe(seen);
  CHECK(slow.mean()[1].seconds == Approx(2.6));  // at work for 2 s so far
}

TEST_CASE("CPU time used while the trainer paused is divided by all the time that passed",
          "[tuner][model]") {
  PipelineEstimate known(two_stages());
  Observation seen = interval();
  seen.at_seconds = 2;
  seen.other_cpu_seconds = 2;
  known.observe(seen);
  CHECK(known.cpus() == Approx(7));

  SECTION("most of the interval") {
    seen.at_seconds = 4;
    seen.seconds = 0.1;  // of 2 that passed
    known.observe(seen);
    CHECK(known.cpus() == Approx(7));
  }
  SECTION("all of it") {
    seen.at_seconds = 4;
    seen.seconds = 0;
    known.observe(seen);
    CHECK(known.cpus() == Approx(7));
  }
  SECTION("without counting time that was not observed") {
    seen.at_seconds = 100;
    known.observe(seen);
    CHECK(known.cpus() == Approx(7));
  }
}

TEST_CASE("CPU that others of the process use is not the stages'", "[tuner][model]") {
  PipelineEstimate known(two_stages());
  Observation seen = interval();
  seen.other_cpu_seconds = 3;
  known.observe(seen);
  CHECK(known.cpus() == Approx(6.5));  // 8 - 3/2
}

TEST_CASE("another number of CPUs is a change", "[tuner][model]") {
  PipelineEstimate known(two_stages());
  known.observe(interval());
  CHECK_FALSE(known.changed());
  Observation seen = interval();
  seen.limits.cpus = 16;
  known.observe(seen);
  CHECK(known.changed());
}

TEST_CASE("the pace is a period over two seconds, pauses included, and at most 1",
          "[tuner][model]") {
  PipelineEstimate known(two_stages());
  Observation seen = interval();
  CHECK(known.pace() == 1);
  seen.at_seconds = 0.5;
  known.observe(seen);
  CHECK(known.pace() == Approx(0.25));
  seen.at_seconds = 2.0;  // after a pause of a second
  known.observe(seen);
  CHECK(known.pace() == Approx(0.75));
  seen.at_seconds = 3.96;  // a thread wakes early or late
  known.observe(seen);
  CHECK(known.pace() == 1);
  seen.at_seconds = 13.96;
  known.observe(seen);
  CHECK(known.pace() == 1);
}

TEST_CASE("an estimate is kept for pipelines of as many stages only", "[tuner][model]") {
  PipelineEstimate known(two_stages());
  known.observe(interval());
  PipelineEstimate again(two_stages());
  REQUIRE(again.restore(known.save()));
  CHECK(again.mean()[0].seconds == Approx(0.1).epsilon(0.01));
  PipelineDescription longer = two_stages();
  longer.stages.push_back({"transform", 64, 1});
  CHECK_FALSE(PipelineEstimate(longer).restore(known.save()));
}

}  // namespace
}  // namespace forebay::tuner
