#include "tuner/paper/state.h"

#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

PipelineDescription two_stages() {
  PipelineDescription description;
  description.stages = {{"load", 64, 100}, {"decode", 64, 100}};
  description.max_prefetch = 16;
  description.fixed_bytes = 100;
  return description;
}

// Two seconds in which each stage of two actors completed 20 splits of so many seconds.
Observation two_seconds(double load, double decode, std::uint64_t trained) {
  Observation seen{.at_seconds = 2, .seconds = 2, .limits = {.cpus = 8, .memory_bytes = 1000}};
  for (const double seconds : {load, decode}) {
    StageObservation stage;
    stage.actors = 2;
    stage.actor_seconds = 4;
    stage.working_seconds = 20 * seconds;
    stage.done = 20;
    stage.done_seconds = stage.done_cpu_seconds = stage.cpu_seconds = 20 * seconds;
    seen.stages.push_back(stage);
  }
  seen.trainer_steps = trained;
  seen.trainer_step_seconds = 0.01 * static_cast<double>(trained);
  seen.trainer_wait_seconds = 1;
  return seen;
}

TEST_CASE("the reward is throughput times the share of memory that is free", "[tuner][paper]") {
  PaperState state(two_stages());
  state.observe(two_seconds(0.1, 0.2, 40));  // 100 + 2·2·100 of 1000 bytes
  CHECK(state.reward() == Approx(20 * 0.5));
}

TEST_CASE("a stage's latency is seen beside the slowest and the slowest of the others",
          "[tuner][paper]") {
  PaperState state(two_stages());
  state.observe(two_seconds(0.1, 0.2, 40));
  const auto rows = state.rows();
  CHECK(rows[0][0] == Approx(std::log(0.5) / 2));
  CHECK(rows[1][0] == Approx(0).margin(1e-6));
  CHECK(rows[1][1] == Approx(std::log(2) / 2));
}

TEST_CASE("free CPUs, free memory and the model's latency are shares", "[tuner][paper]") {
  PaperState state(two_stages());
  state.observe(two_seconds(0.1, 0.2, 40));
  const auto row = state.rows()[0];
  CHECK(row[6] == Approx(1 - 6.0 / 16));
  CHECK(row[8] == Approx(0.5));
  CHECK(row[9] == Approx(0.5));                        // five actors of 100 bytes
  CHECK(row[10] == Approx(std::log(0.01 / 0.1) / 2));  // a step over the slowest latency
  CHECK(row[11] == Approx(0.5));
}

TEST_CASE("the steps that were taken and the change of the reward are seen next time",
          "[tuner][paper]") {
  PaperState state(two_stages());
  state.observe(two_seconds(0.1, 0.2, 40));
  state.took({1, 0});
  state.observe(two_seconds(0.1, 0.2, 60));
  CHECK(state.rows()[0][17] == -1);
  CHECK(state.rows()[1][17] == 0);
  CHECK(state.rows()[0][18] == Approx(0.5));
}

TEST_CASE("a stage that slows down as it grows is seen to do so", "[tuner][paper]") {
  PaperState state(two_stages());
  state.observe(two_seconds(0.1, 0.2, 40));
  CHECK(state.rows()[0][3] == 0);
  state.observe(two_seconds(0.3, 0.2, 40));
  CHECK(state.rows()[0][3] == Approx(std::log((0.6 * 0.3 + 0.4 * 0.1) / 0.1)));
}

TEST_CASE("a stage that has completed no split takes as long as it has worked", "[tuner][paper]") {
  PaperState state(two_stages());
  Observation seen = two_seconds(0.1, 0.2, 0);
  seen.stages[1].done = 0;
  seen.stages[1].working_seconds = 4;
  state.observe(seen);
  CHECK(state.rows()[0][0] == Approx(std::log(0.05) / 2));  // 0.1 s beside 2 s, two actors each
}

}  // namespace
}  // namespace forebay::tuner
