#include "tuner/sim/simulator.h"

#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

using Catch::Matchers::WithinRel;

namespace forebay::tuner {
namespace {

/// Splits/s of a fixed allocation, the first tenth left out.
double throughput(const PipelineModel& model, const Allocation& allocation, double seconds) {
  Simulator simulator(model, 1);
  simulator.apply(allocation);
  simulator.run_until(seconds / 10);
  simulator.observe();
  simulator.run_until(seconds);
  return simulator.observe().splits_per_second();
}

}  // namespace

TEST_CASE("the slowest stage sets the rate", "[tuner][sim]") {
  // 3/0.06 = 50 and 2/0.05 = 40 splits/s.
  const PipelineModel model = line_of({stage("load", 0.06), stage("udf", 0.05)});
  CHECK_THAT(throughput(model, {{3, 2}, 4}, 100), WithinRel(40.0, 0.002));
}

TEST_CASE("too few CPUs slow all work equally", "[tuner][sim]") {
  // 8 CPUs over 0.06 + 0.05 seconds a split: 72.7 splits/s, however many actors ask.
  const PipelineModel model = line_of({stage("load", 0.06), stage("udf", 0.05)});
  CHECK_THAT(throughput(model, {{8, 8}, 4}, 100), WithinRel(8 / 0.11, 0.005));
}

TEST_CASE("waiting takes no CPU", "[tuner][sim]") {
  // A fifth of 0.5 s on a CPU: 40 actors use 4 CPUs, 80 splits/s; 80 actors all 8 of them.
  PipelineModel model = line_of({stage("read", 0.5)});
  model.stages[0].cpu = 0.2;
  CHECK_THAT(throughput(model, {{40}, 4}, 100), WithinRel(80.0, 0.005));
  CHECK_THAT(throughput(model, {{20}, 4}, 100), WithinRel(40.0, 0.005));
  CHECK_THAT(throughput(model, {{120}, 4}, 100), WithinRel(80.0, 0.005));
}

TEST_CASE("actors of a stage cost each other", "[tuner][sim]") {
  // slow(4) = 1 + 0.1 · 3 + 0.01 · 12 = 1.42.
  PipelineModel model = line_of({stage("udf", 0.1)});
  model.stages[0].alpha = 0.1;
  model.stages[0].beta = 0.01;
  CHECK_THAT(throughput(model, {{4}, 4}, 100), WithinRel(4 / 0.142, 0.003));
}

TEST_CASE("a stage never starts splits faster than its max_rate", "[tuner][sim]") {
  PipelineModel model = line_of({stage("read", 0.01), stage("udf", 0.5)});
  model.stages[0].max_rate = 10;
  CHECK_THAT(throughput(model, {{4, 8}, 4}, 100), WithinRel(10.0, 0.002));
}

TEST_CASE("a stage that was idle starts no faster for that", "[tuner][sim]") {
  // Two splits come at 1 s; starts are half a second apart: ends at 1.1 and 1.6.
  PipelineModel model = line_of({stage("load", 1.0), stage("read", 0.1)});
  model.stages[1].max_rate = 2;
  Simulator simulator(model, 1);
  simulator.apply({{2, 2}, 4});
  simulator.run_until(1.55);
  CHECK(simulator.observe().stages[1].done == 1);
  simulator.run_until(1.65);
  const StageObservation seen = simulator.observe().stages[1];
  CHECK(seen.done == 1);
  CHECK(seen.done_seconds == Approx(0.6));
}

TEST_CASE("the trainer can be the limit", "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.01)});
  model.trainer_step_seconds = 0.04;
  Simulator simulator(model, 1);
  simulator.run_until(10);
  const Observation seen = simulator.observe();
  CHECK(seen.trainer_steps == 249);  // The first split is there after 0.01 s.
  CHECK(seen.trainer_step_seconds == Approx(249 * 0.04));
  CHECK(seen.trainer_wait_seconds == Approx(0.01));
  CHECK(seen.prefetch_empty == 1);
}

TEST_CASE("the same model, seed and calls give the same results to the bit", "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.06), stage("read", 0.5), stage("udf", 0.05)});
  for (StageModel& each : model.stages) each.noise = 0.4;
  model.stages[1].cpu = 0.3;
  const auto run = [&](std::uint64_t seed) {
    Simulator simulator(model, seed);
    simulator.apply({{9, 30, 7}, 4});
    simulator.run_until(20);
    simulator.apply({{5, 20, 9}, 2});
    simulator.run_until(50);
    return simulator.totals();
  };
  const SimTotals first = run(3);
  const SimTotals second = run(3);
  CHECK(first.cpu_seconds == second.cpu_seconds);
  CHECK(first.trainer_wait_seconds == second.trainer_wait_seconds);
  CHECK(first.steps == second.steps);
  CHECK(run(4).cpu_seconds != first.cpu_seconds);
}

TEST_CASE("a run gives the same results in any number of calls", "[tuner][sim]") {
  PipelineModel model = line_of({stage("load", 0.06), stage("udf", 0.05)});
  model.stages[0].noise = model.stages[1].noise = 0.3;
  Simulator whole(model, 1);
  Simulator parts(model, 1);
  whole.run_until(30);
  for (int i = 1; i <= 300; ++i) {
    parts.run_until(i * 0.1);
    parts.observe();
  }
  CHECK(whole.totals().trained == parts.totals().trained);
  CHECK(whole.totals().cpu_seconds == Approx(parts.totals().cpu_seconds));
  CHECK(whole.totals().memory_peak == parts.totals().memory_peak);
}

}  // namespace forebay::tuner
