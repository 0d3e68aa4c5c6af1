#include "tests/tuner/sim/models.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

double rate_until(Simulator& simulator, double seconds) {
  simulator.run_until(seconds);
  return simulator.observe().splits_per_second();
}

}  // namespace

TEST_CASE("an actor waiting for input leaves at once, one at work when its split is put out",
          "[tuner][sim][leaving]") {
  PipelineModel model = line_of({stage("load", 1.0), stage("udf", 0.1)});
  Simulator simulator(model, 1);
  simulator.apply({{4, 5}, 4});
  simulator.run_until(0.5);
  simulator.apply({{1, 2}, 4});
  CHECK(simulator.current().actors == std::vector<std::uint32_t>{1, 2});
  CHECK(simulator.current().leaving == std::vector<std::uint32_t>{3, 0});
  CHECK(simulator.current().memory_bytes == 10'000'000 + 4'000'000 + 2'000'000);
  simulator.run_until(1.5);
  CHECK(simulator.current().leaving == std::vector<std::uint32_t>{0, 0});
  const Observation seen = simulator.observe();
  CHECK(seen.stages[0].done == 4);
  CHECK(seen.stages[0].actor_seconds == Approx(4 * 1 + 0.5));
  CHECK(seen.stages[1].actor_seconds == Approx(5 * 0.5 + 2 * 1));
}

TEST_CASE("a leaving actor that waits with a finished split leaves when the split is put out",
          "[tuner][sim][leaving]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 10.0)});
  Simulator simulator(model, 1);
  simulator.apply({{4, 1}, 4});
  simulator.run_until(5);  // udf works on one, four are queued, four are held.
  simulator.apply({{1, 1}, 4});
  simulator.run_until(10.05);
  CHECK(simulator.current().leaving[0] == 3);
  simulator.run_until(10.15);  // udf has taken its second.
  CHECK(simulator.current().leaving[0] == 2);
  simulator.run_until(30.15);
  CHECK(simulator.current().leaving[0] == 0);
}

TEST_CASE("a stage that grows again keeps the actors that were leaving", "[tuner][sim][leaving]") {
  Simulator simulator(line_of({stage("load", 1.0)}), 1);
  simulator.apply({{4}, 4});
  simulator.run_until(0.5);
  simulator.apply({{1}, 4});
  simulator.apply({{3}, 4});
  CHECK(simulator.current().actors[0] == 3);
  CHECK(simulator.current().leaving[0] == 1);
  CHECK(simulator.current().memory_bytes == 10'000'000 + 4 * 1'000'000);
}

TEST_CASE("actors on their way out slow their stage until they have gone",
          "[tuner][sim][leaving]") {
  PipelineModel model = line_of({stage("load", 1.0)});
  model.stages[0].alpha = 1.0 / 3;  // slow(4) = 2.
  Simulator simulator(model, 1);
  simulator.apply({{4}, 4});
  simulator.run_until(1.5);  // The first began alone and ends at 1; then four are there.
  simulator.observe();
  simulator.run_until(2.5);
  const StageObservation seen = simulator.observe().stages[0];
  CHECK(seen.done == 3);
  CHECK(seen.done_actors == 3 * 4);
  CHECK(seen.done_seconds == Approx(6));
}

TEST_CASE("a prefetch that is cut empties by training, one that grows lets waiting actors go on",
          "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.trainer_step_seconds = 1;
  Simulator simulator(model, 1);
  simulator.run_until(2.05);
  CHECK(simulator.current().prefetched == 4);
  simulator.apply({{1}, 1});
  CHECK(simulator.current().prefetch == 1);
  CHECK(simulator.current().prefetched == 4);
  simulator.run_until(4.15);  // Steps end at 1.1, 2.1, …
  CHECK(simulator.current().prefetched == 1);
  simulator.apply({{1}, 3});
  CHECK(simulator.current().prefetched == 2);  // The split that was held.
}

TEST_CASE("events change costs and machine at their time, and back", "[tuner][sim][events]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.2)});
  model.events = {{.at_seconds = 100, .stage = 1, .seconds_factor = 4.0},
                  {.at_seconds = 200, .stage = 1, .seconds_factor = 1.0},
                  {.at_seconds = 200, .cpus = 2.0},
                  {.at_seconds = 300, .cpus = 8.0},
                  {.at_seconds = 300, .stage = 0, .max_rate = 5.0},
                  {.at_seconds = 400, .stage = 0, .max_rate = 0.0},
                  {.at_seconds = 400, .trainer_step_seconds = 0.25}};
  Simulator simulator(model, 1);
  simulator.apply({{4, 4}, 4});
  CHECK(rate_until(simulator, 100) == Approx(20).epsilon(0.02));
  CHECK(rate_until(simulator, 200) == Approx(5).epsilon(0.02));
  CHECK(simulator.current().limits.cpus == 2);
  CHECK(rate_until(simulator, 300) == Approx(2 / 0.3).epsilon(0.03));
  CHECK(rate_until(simulator, 400) == Approx(5).epsilon(0.04));
  CHECK(rate_until(simulator, 500) == Approx(4).epsilon(0.02));
}

TEST_CASE("an actor that waits for a rate limit starts when an event removes the limit",
          "[tuner][sim][events]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.stages[0].max_rate = 0.1;
  model.events = {{.at_seconds = 3, .stage = 0, .max_rate = 0}};
  Simulator simulator(model, 1);
  simulator.run_until(2.9);
  CHECK(simulator.observe().stages[0].done == 1);  // the next would start at 10 s
  simulator.run_until(4.05);
  CHECK(simulator.observe().stages[0].done == 10);
}

TEST_CASE("a decision of the same moment sees the events applied", "[tuner][sim][events]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.events = {{.at_seconds = 2, .cpus = 3.0, .memory_bytes = 500'000'000}};
  Simulator simulator(model, 1);
  simulator.run_until(2);
  const Observation seen = simulator.observe();
  CHECK(seen.limits.cpus == 3);
  CHECK(seen.limits.memory_bytes == 500'000'000);
}

TEST_CASE("running out of memory ends the run", "[tuner][sim][memory]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.memory_bytes = 24'000'000;  // Base 10, an actor 1, four splits that wait.
  Simulator simulator(model, 1);
  simulator.apply({{10}, 4});
  simulator.run_until(10.05);
  CHECK_FALSE(simulator.out_of_memory());
  simulator.apply({{14}, 4});
  CHECK_FALSE(simulator.out_of_memory());  // Nothing waits at this moment.
  simulator.apply({{15}, 4});
  CHECK(simulator.out_of_memory());
  const std::uint64_t trained = simulator.totals().trained;
  simulator.run_until(20);
  CHECK(simulator.totals().trained == trained);
  CHECK(simulator.now() == 20);
}

TEST_CASE("a full queue can exceed the memory limit", "[tuner][sim][memory]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.memory_bytes = 13'000'000;
  model.trainer_step_seconds = 100;
  Simulator simulator(model, 1);
  simulator.run_until(0.35);  // One is trained on, two wait: 10 + 1 + 2.
  CHECK_FALSE(simulator.out_of_memory());
  simulator.run_until(0.45);
  CHECK(simulator.out_of_memory());
  CHECK(simulator.totals().memory_peak == 14'000'000);
}

TEST_CASE("a memory limit below the memory in use ends the run four seconds later, not before",
          "[tuner][sim][memory]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.events = {{.at_seconds = 10, .memory_bytes = 15'000'000}};
  Simulator simulator(model, 1);
  simulator.apply({{8}, 4});
  simulator.run_until(13.9);
  CHECK_FALSE(simulator.out_of_memory());
  simulator.run_until(14);
  CHECK(simulator.out_of_memory());
}

TEST_CASE("an actor that leaves before the cut counts is exempt while it finishes its split",
          "[tuner][sim][memory]") {
  PipelineModel model = line_of({stage("load", 30.0)});
  model.events = {{.at_seconds = 10, .memory_bytes = 15'000'000}};
  Simulator told(model, 1);
  told.apply({{8}, 4});
  told.run_until(13);
  told.apply({{2}, 4});
  told.run_until(14);
  CHECK(told.current().leaving[0] == 6);
  CHECK_FALSE(told.out_of_memory());  // 10 + 2 count, 6 do not.
  told.apply({{5}, 4});               // Three of those stay after all: 15.
  CHECK_FALSE(told.out_of_memory());
  told.apply({{6}, 4});
  CHECK(told.out_of_memory());
}

}  // namespace forebay::tuner
