#include <cmath>

#include "core/base/clock.h"
#include "tests/tuner/sim/models.h"
#include "tuner/emulated/emulated_machine.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

struct Simulated {
  explicit Simulated(const PipelineModel& model) : tuned_pipeline(model, 1) {}
  Simulator tuned_pipeline;
};

struct Emulated {
  explicit Emulated(const PipelineModel& model) : tuned_pipeline(model, 1, clock) {}
  SystemClock clock;
  EmulatedMachine tuned_pipeline;
};

/// Three stages, the middle one slow and half of it waiting; a trainer that keeps up.
PipelineModel three_stages() {
  PipelineModel model = line_of({stage("load", 0.005), stage("udf", 0.04), stage("batch", 0.005)});
  model.stages[1].cpu = 0.5;
  return model;
}

/// Runs on until `condition` holds; in real time the test's own timeout is the bound.
template <class TunedPipeline, class Condition>
void run_until(TunedPipeline& tuned_pipeline, Condition condition) {
  while (!condition()) tuned_pipeline.run_until(tuned_pipeline.now() + 0.01);
}

TEMPLATE_TEST_CASE("a tuned pipeline starts with one actor a stage and reports it",
                   "[tuner][plant]", Simulated, Emulated) {
  TestType machine(three_stages());
  const CurrentState current = machine.tuned_pipeline.current();
  CHECK(current.actors == std::vector<std::uint32_t>{1, 1, 1});
  CHECK(current.leaving == std::vector<std::uint32_t>{0, 0, 0});
  CHECK(current.prefetch == 4);
  CHECK(current.limits.cpus == 8);
  CHECK(current.limits.memory_bytes == 1'000'000'000);
  CHECK(current.memory_bytes >= 13'000'000);  // 10 MB and an actor of 1 MB in each stage.
}

TEMPLATE_TEST_CASE("the figures that a tuned pipeline observes add up", "[tuner][plant]", Simulated,
                   Emulated) {
  TestType machine(three_stages());
  machine.tuned_pipeline.apply({.actors = {2, 3, 1}, .prefetch = 2});
  machine.tuned_pipeline.run_until(0.2);
  const Observation first = machine.tuned_pipeline.observe();
  machine.tuned_pipeline.run_until(1.0);
  const Observation seen = machine.tuned_pipeline.observe();
  CHECK(seen.at_seconds == Approx(first.at_seconds + seen.seconds).margin(0.01));
  REQUIRE(seen.stages.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const StageObservation& each = seen.stages[i];
    INFO("stage " << i);
    CHECK(each.actors == machine.tuned_pipeline.current().actors[i]);
    CHECK(each.actor_seconds == Approx(each.actors * seen.seconds).epsilon(0.15));
    CHECK(each.working_seconds + each.input_wait_seconds + each.output_wait_seconds ==
          Approx(each.actor_seconds));
    CHECK(each.done_cpu_seconds + each.done_ready_seconds <= each.done_seconds + 1e-9);
    CHECK(each.done_seconds_squared >=
          std::pow(each.done_seconds - each.done_ready_seconds, 2) / double(each.done) - 1e-9);
    CHECK(each.queue_fill >= 0);
    CHECK(each.queue_fill <= 1);
  }
  const StageObservation& udf = seen.stages[1];
  CHECK(udf.done > 0);
  CHECK(udf.done_actors == 3.0 * double(udf.done));
  CHECK(udf.done_seconds / double(udf.done) == Approx(0.04));
  CHECK(udf.done_cpu_seconds / double(udf.done) == Approx(0.02));
  CHECK(udf.cpu_seconds == Approx(udf.done_cpu_seconds).margin(0.2));  // Three in work.
  // Between two stages at most a queue and those in work; the trainer's last step is under way.
  CHECK(std::abs(double(udf.done) - double(seen.trainer_steps)) <= 4 + 2 + 3 + 2);
  CHECK(seen.trainer_wait_seconds > 0);
  CHECK(seen.trainer_wait_seconds + seen.trainer_step_seconds == Approx(seen.seconds).epsilon(0.1));
  CHECK(seen.memory_peak >= seen.memory_bytes);
  CHECK(seen.prefetch == 2);
}

TEMPLATE_TEST_CASE("actors come at once and go when they have finished their split",
                   "[tuner][plant]", Simulated, Emulated) {
  TestType machine(three_stages());
  auto& tuned_pipeline = machine.tuned_pipeline;
  tuned_pipeline.apply({.actors = {1, 12, 2}, .prefetch = 4});
  CHECK(tuned_pipeline.current().actors == std::vector<std::uint32_t>{1, 12, 2});
  tuned_pipeline.run_until(tuned_pipeline.now() + 0.3);
  tuned_pipeline.apply({.actors = {1, 2, 1}, .prefetch = 1});
  const CurrentState after = tuned_pipeline.current();
  CHECK(after.actors == std::vector<std::uint32_t>{1, 2, 1});
  CHECK(after.leaving[1] <= 10);
  CHECK(after.prefetch == 1);
  run_until(tuned_pipeline, [&] { return tuned_pipeline.current().leaving[1] == 0; });
  run_until(tuned_pipeline, [&] { return tuned_pipeline.current().prefetched <= 1; });
  tuned_pipeline.observe();
  tuned_pipeline.run_until(tuned_pipeline.now() + 0.3);
  const Observation seen = tuned_pipeline.observe();
  CHECK(seen.stages[1].actor_seconds == Approx(2 * seen.seconds).epsilon(0.2));
}

TEMPLATE_TEST_CASE(
    "a tuned pipeline keeps one actor a stage and a prefetch of one for any allocation",
    "[tuner][plant]", Simulated, Emulated) {
  TestType machine(three_stages());
  machine.tuned_pipeline.apply({.actors = {0, 0, 0}, .prefetch = 0});
  const CurrentState current = machine.tuned_pipeline.current();
  CHECK(current.actors == std::vector<std::uint32_t>{1, 1, 1});
  CHECK(current.prefetch == 1);
}

TEMPLATE_TEST_CASE("a tuned pipeline above its memory limit is out of memory and trains no more",
                   "[tuner][plant]", Simulated, Emulated) {
  PipelineModel model = three_stages();
  model.memory_bytes = 30'000'000;
  TestType machine(model);
  auto& tuned_pipeline = machine.tuned_pipeline;
  tuned_pipeline.run_until(0.1);
  CHECK_FALSE(tuned_pipeline.out_of_memory());
  tuned_pipeline.apply({.actors = {8, 8, 8}, .prefetch = 4});  // 34 MB.
  run_until(tuned_pipeline, [&] { return tuned_pipeline.out_of_memory(); });
  const std::uint64_t trained = tuned_pipeline.totals().trained;
  tuned_pipeline.run_until(tuned_pipeline.now() + 0.1);
  tuned_pipeline.apply({.actors = {1, 1, 1}, .prefetch = 1});
  CHECK(tuned_pipeline.out_of_memory());
  CHECK(tuned_pipeline.totals().trained <= trained + 1);
  CHECK(tuned_pipeline.totals().memory_peak > 30'000'000);
}

TEMPLATE_TEST_CASE("a change of the machine's limits is observed", "[tuner][plant]", Simulated,
                   Emulated) {
  PipelineModel model = three_stages();
  model.events = {{.at_seconds = 0.5, .cpus = 2.0, .memory_bytes = 2'000'000'000}};
  TestType machine(model);
  machine.tuned_pipeline.run_until(0.1);
  CHECK(machine.tuned_pipeline.observe().limits.cpus == 8);
  machine.tuned_pipeline.run_until(0.6);
  CHECK(machine.tuned_pipeline.current().limits.cpus == 2);
  const Observation seen = machine.tuned_pipeline.observe();
  CHECK(seen.limits.cpus == 2);
  CHECK(seen.limits.memory_bytes == 2'000'000'000);
}

}  // namespace
}  // namespace forebay::tuner
