#include "tests/tuner/sim/models.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A fast source, then a stage that is the bottleneck, then a trainer that waits.
PipelineModel blocked_line() { return line_of({stage("load", 0.1), stage("udf", 0.4)}); }

}  // namespace

TEST_CASE("an observation counts the time of work and of waiting", "[tuner][sim][observation]") {
  // load ends splits at 0.1, 0.2, …; udf takes the first at 0.1 and each 0.4 s later the next.
  // The queue of 4 is full at 0.5, when udf takes its second: load waits from 0.7 s on.
  Simulator simulator(blocked_line(), 1);
  simulator.run_until(1.65);
  const Observation seen = simulator.observe();
  const StageObservation& load = seen.stages[0];
  const StageObservation& udf = seen.stages[1];
  CHECK(udf.done == 3);  // At 0.5, 0.9, 1.3.
  CHECK(udf.done_seconds == Approx(1.2));
  CHECK(udf.done_seconds_squared == Approx(3 * 0.16));
  CHECK(udf.done_cpu_seconds == Approx(1.2));
  CHECK(udf.done_ready_seconds == Approx(0).margin(1e-9));
  CHECK(udf.done_actors == 3);
  CHECK(udf.input_wait_seconds == Approx(0.1));
  CHECK(udf.working_seconds == Approx(1.55));
  CHECK(load.actor_seconds == Approx(1.65));
  // At work until 0.7, waiting until 0.9; at work until 1, waiting until 1.3; and once more.
  CHECK(load.done == 9);
  CHECK(load.output_wait_seconds == Approx(0.2 + 0.3 + 0.25));
  CHECK(load.working_seconds == Approx(0.9));
  CHECK(load.cpu_seconds == Approx(0.9));
  CHECK(load.queued_bytes == 4'000'000);
  CHECK(seen.trainer_steps == 3);
  CHECK(seen.trainer_wait_seconds == Approx(1.65 - 3 * 0.0001));
  CHECK(seen.memory_bytes == 10'000'000 + 2 * 1'000'000 + 4'000'000);
  CHECK(seen.memory_peak == seen.memory_bytes);
}

TEST_CASE("a service's time counts where it ends, its CPU time where it was spent",
          "[tuner][sim][observation]") {
  Simulator simulator(line_of({stage("udf", 1.0)}), 1);
  simulator.run_until(0.75);
  const Observation before = simulator.observe();
  CHECK(before.stages[0].done == 0);
  CHECK(before.stages[0].cpu_seconds == Approx(0.75));
  simulator.run_until(1.25);
  const Observation after = simulator.observe();
  CHECK(after.stages[0].done == 1);
  CHECK(after.stages[0].done_seconds == Approx(1));
  CHECK(after.stages[0].cpu_seconds == Approx(0.5));
  CHECK(after.seconds == Approx(0.5));
  CHECK(after.at_seconds == 1.25);
}

TEST_CASE("time that a service waits for a CPU is counted apart", "[tuner][sim][observation]") {
  // 16 actors that want 0.5 CPUs each share 4: 16 · 0.5 / (0.5 + 0.5 f) = 4, f = 3. A service of
  // 1 s takes 0.5 waiting and 1.5 on and for a CPU, 0.5 of it on one.
  PipelineModel model = line_of({stage("read", 1.0)});
  model.cpus = 4;
  model.stages[0].cpu = 0.5;
  Simulator simulator(model, 1);
  simulator.run_until(1);  // The first actor's first split, alone.
  simulator.apply({{16}, 16});
  simulator.run_until(3.5);
  simulator.observe();
  simulator.run_until(9.5);
  const StageObservation seen = simulator.observe().stages[0];
  const auto done = static_cast<double>(seen.done);
  REQUIRE(seen.done == 48);
  CHECK(seen.done_seconds / done == Approx(2));
  CHECK(seen.done_cpu_seconds / done == Approx(0.5));
  CHECK(seen.done_ready_seconds / done == Approx(1));
  CHECK(seen.done_seconds_squared / done == Approx(1));
  CHECK(seen.cpu_seconds == Approx(4 * 6));
  CHECK(seen.done_actors == 16 * done);
}

TEST_CASE("waiting for a spaced start is part of the service and takes no CPU",
          "[tuner][sim][observation]") {
  PipelineModel model = line_of({stage("read", 0.1)});
  model.stages[0].max_rate = 2;
  Simulator simulator(model, 1);
  simulator.apply({{2}, 4});
  simulator.run_until(10.01);
  simulator.observe();
  simulator.run_until(20.01);
  const StageObservation seen = simulator.observe().stages[0];
  CHECK(seen.done == 20);
  // Starts are 0.5 s apart; the actor that ends at 0.1 takes the next split, and starts after the
  // one before it.
  CHECK(seen.done_seconds / 20 == Approx(1.0));
  CHECK(seen.done_cpu_seconds == Approx(2));
  CHECK(seen.done_ready_seconds == Approx(0).margin(1e-9));
  CHECK(seen.done_seconds_squared == Approx(20));
  CHECK(seen.working_seconds == Approx(20));
  CHECK(seen.cpu_seconds == Approx(2));
}

TEST_CASE("queues are observed by how full they were", "[tuner][sim][observation]") {
  Simulator simulator(blocked_line(), 1);
  simulator.run_until(3);
  simulator.observe();
  simulator.run_until(11);
  const Observation seen = simulator.observe();
  // An actor that waits with a split puts it in as another is taken.
  CHECK(seen.stages[0].queue_fill == Approx(1).margin(0.001));
  CHECK(seen.stages[1].queue_fill == 0);
  CHECK(seen.prefetch_fill == 0);
  CHECK(seen.prefetch_full == 0);
  CHECK(seen.prefetch_empty == seen.trainer_steps);
}

TEST_CASE("a prefetch counts how often it became full", "[tuner][sim][observation]") {
  // A split every 0.1 s, a step of 1 s: two wait at 0.3 s, then one is put in as one is taken.
  PipelineModel model = line_of({stage("load", 0.1)});
  model.trainer_step_seconds = 1;
  model.prefetch_splits = 2;
  Simulator simulator(model, 1);
  simulator.run_until(5.05);
  const Observation seen = simulator.observe();
  CHECK(seen.prefetch_full == 1 + 4);
  CHECK(seen.prefetch == 2);
  CHECK(seen.trainer_steps == 4);
  // Empty until 0.2, one until 0.3, full after.
  CHECK(seen.prefetch_fill == Approx((0.1 * 0.5 + 4.75) / 5.05));
  CHECK(simulator.current().prefetched == 2);
}

}  // namespace forebay::tuner
