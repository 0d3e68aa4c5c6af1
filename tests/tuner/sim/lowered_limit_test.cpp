#include "tests/tuner/sim/models.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

// One slow stage of 10 s and 100 MB an actor, whose memory is cut to 200 MB at 100 s.
PipelineModel cut() {
  PipelineModel model = line_of({stage("slow", 10)});
  model.memory_bytes = 900'000'000;
  model.stages[0].bytes_per_actor = 100'000'000;
  model.events.push_back({.at_seconds = 100, .memory_bytes = 200'000'000});
  return model;
}

TEST_CASE("actors that were leaving before a lowered limit came into force do not count",
          "[tuner][sim]") {
  Simulator simulator(cut(), 1);
  simulator.apply({.actors = {8}, .prefetch = 4});
  simulator.run_until(103.9);
  simulator.apply({.actors = {1}, .prefetch = 4});
  simulator.run_until(104.1);
  CHECK(simulator.current().memory_bytes > 200'000'000);  // the leaving actors still work
  simulator.run_until(200);
  CHECK_FALSE(simulator.out_of_memory());
}

TEST_CASE("actors that stay count four seconds after the limit was lowered", "[tuner][sim]") {
  Simulator simulator(cut(), 1);
  simulator.apply({.actors = {8}, .prefetch = 4});
  simulator.run_until(103.9);
  CHECK_FALSE(simulator.out_of_memory());
  simulator.run_until(104.1);
  CHECK(simulator.out_of_memory());
}

}  // namespace
}  // namespace forebay::tuner
