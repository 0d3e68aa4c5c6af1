#include "tuner/world/world_simulator.h"

#include "tests/tuner/sim/models.h"
#include "tuner/sim/random_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Splits/s from 10 s to 110 s.
double rate_of(WorldSimulator& simulator) {
  simulator.run_until(10);
  const std::uint64_t before = simulator.totals().trained;
  simulator.run_until(110);
  return static_cast<double>(simulator.totals().trained - before) / 100;
}

PipelineModel two_nodes() {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.nodes = {{.name = "a", .cpus = 8, .memory_bytes = 1'000'000'000, .trainer = true},
                 {.name = "b", .cpus = 8, .memory_bytes = 1'000'000'000, .link_rate = 2e7}};
  return model;
}

void check_same(const Observation& a, const Observation& b) {
  CHECK(a.trainer_steps == b.trainer_steps);
  CHECK(a.trainer_wait_seconds == Approx(b.trainer_wait_seconds).margin(1e-6));
  CHECK(a.memory_peak == b.memory_peak);
  REQUIRE(a.stages.size() == b.stages.size());
  for (std::size_t i = 0; i < a.stages.size(); ++i) {
    CHECK(a.stages[i].done == b.stages[i].done);
    CHECK(a.stages[i].cpu_seconds == Approx(b.stages[i].cpu_seconds).margin(1e-6));
    CHECK(a.stages[i].done_seconds == Approx(b.stages[i].done_seconds).margin(1e-6));
    CHECK(a.stages[i].done_ready_seconds == Approx(b.stages[i].done_ready_seconds).margin(1e-6));
    CHECK(a.stages[i].done_cpu_seconds == Approx(b.stages[i].done_cpu_seconds).margin(1e-6));
    CHECK(a.stages[i].output_wait_seconds == Approx(b.stages[i].output_wait_seconds).margin(1e-6));
    CHECK(a.stages[i].queue_fill == Approx(b.stages[i].queue_fill).margin(1e-6));
  }
}

}  // namespace

TEST_CASE("without what makes a world it is the plain simulator, observation by observation",
          "[tuner][world]") {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    INFO(seed);
    const PipelineModel model = random_pipeline(seed);
    Simulator plain(model, seed);
    WorldSimulator world(model, seed);
    for (const std::uint32_t actors : {3U, 12U, 5U}) {
      const Allocation allocation{.actors = std::vector<std::uint32_t>(model.stages.size(), actors),
                                  .prefetch = actors};
      plain.apply(allocation);
      world.apply(allocation);
      const double until = plain.now() + 3;
      plain.run_until(until);
      world.run_until(until);
      check_same(world.observe(), plain.observe());
    }
  }
}

TEST_CASE("all actors of the first allocation are there when the first split begins",
          "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.stages[0].alpha = 0.5;  // slow(3) = 2, so a split takes 0.2 s.
  WorldSimulator simulator(model, 1, Allocation{.actors = {3, 3}, .prefetch = 4});
  simulator.run_until(0.19);
  CHECK(simulator.totals().trained == 0);
  simulator.run_until(0.21);
  CHECK(simulator.totals().trained >= 3);
}

TEST_CASE("with order the first numbers go to the nodes in turn", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.nodes[1].link_rate = 0;
  model.stages.back().ordered = true;
  WorldSimulator simulator(model, 1, Allocation{.actors = {4, 4}, .prefetch = 4});
  simulator.run_until(0.15);
  CHECK(simulator.totals_of(0).trained == 2);
  CHECK(simulator.totals_of(1).trained == 2);
}

TEST_CASE("a link carries no more than its rate and holds no more than a queue", "[tuner][world]") {
  WorldSimulator simulator(two_nodes(), 1);
  simulator.apply({.actors = {2, 8}, .prefetch = 4});
  CHECK(rate_of(simulator) == Approx(20 + 20).epsilon(0.01));  // 2 · 10 here, 20 MB/s of 1 MB.
  simulator.observe_node(1);
  simulator.run_until(120);
  const Observation seen = simulator.observe_node(1);
  CHECK(seen.trainer_steps == Approx(200).margin(5));
  CHECK(seen.prefetch_fill == Approx(1).epsilon(0.01));
  CHECK(seen.trainer_step_seconds > 9);  // Its actors wait to hand over.
}

TEST_CASE("a slow link holds no room in the prefetch queue that others could use",
          "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.nodes[1].link_rate = 1e5;  // One split in ten seconds.
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {4, 8}, .prefetch = 1});
  CHECK(rate_of(simulator) == Approx(40.1).epsilon(0.01));
}

TEST_CASE("a lost node stops, and begins anew when it is back", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.events = {{.at_seconds = 20, .node = 1, .present = false},
                  {.at_seconds = 40, .node = 1, .present = true}};
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {1, 1}, .prefetch = 4});
  simulator.run_until(20);
  simulator.observe();
  simulator.run_until(40);
  const Observation lost = simulator.observe();
  CHECK(lost.trainer_steps == Approx(200).margin(6));
  CHECK(lost.stages[1].done <= 1);
  CHECK(simulator.current_of(1).actors == std::vector<std::uint32_t>{1});
  simulator.run_until(60);
  CHECK(simulator.observe().trainer_steps == Approx(400).margin(6));
}

TEST_CASE("a node that is not fed finishes what it has and starts nothing", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.stages.back().ordered = GENERATE(false, true);
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {2, 2}, .prefetch = 8});
  simulator.run_until(10);
  simulator.set_fed(1, false);
  simulator.run_until(12);
  const std::uint64_t finished = simulator.totals_of(1).trained;
  CHECK(finished == Approx(200).margin(15));  // 2 actors, 0.1 s a split, 10 s.
  simulator.run_until(22);
  CHECK(simulator.totals_of(1).trained == finished);
  CHECK(simulator.totals().trained - finished == Approx(440).margin(20));  // The other goes on.
  simulator.set_fed(1, true);
  simulator.run_until(32);
  CHECK(simulator.totals_of(1).trained - finished == Approx(200).margin(15));
}

TEST_CASE("with order the lost splits are made again, and no number is missing", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.stages[0].ordered = true;
  model.events = {{.at_seconds = 5.05, .node = 1, .present = false}};
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {2, 2}, .prefetch = 8});
  simulator.run_until(25);
  CHECK(simulator.totals().trained == Approx(5 * 40 + 20 * 20).margin(15));
}

TEST_CASE("with order a split that was started counts as prefetched before it arrives",
          "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("batch", 0.1)});
  model.stages[1].ordered = true;
  model.trainer_step_seconds = 1;
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {8, 8}, .prefetch = 6});
  simulator.run_until(0.05);
  CHECK(simulator.current().prefetched == 6);
  simulator.apply({.actors = {8, 8}, .prefetch = 2});
  CHECK(simulator.current().prefetched == 6);
  simulator.run_until(3.5);  // Four were taken, and two have room again.
  CHECK(simulator.current().prefetched == 2);
}

TEST_CASE("with order lost numbers have no place until they start again", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.stages[0].ordered = true;
  model.events = {{.at_seconds = 0.05, .node = 1, .present = false}};
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {2, 2}, .prefetch = 8});
  simulator.run_until(0.04);
  CHECK(simulator.current().prefetched == 4);
  simulator.run_until(0.06);
  CHECK(simulator.current().prefetched == 2);
}

TEST_CASE("with order no split starts beyond the room that the prefetch queue has for it",
          "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.stages[0].ordered = true;
  model.trainer_step_seconds = 1;
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {8}, .prefetch = 3});
  simulator.run_until(0.05);
  CHECK(simulator.observe().stages[0].done == 0);
  simulator.run_until(0.99);
  const Observation seen = simulator.observe();
  CHECK(seen.stages[0].done == 4);  // Three, and one more when the trainer took the first.
  CHECK(simulator.current().prefetched == 3);
}

TEST_CASE("an actor starts up before its first split, with its memory and without a CPU",
          "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.stages[0].start_seconds = 2;
  WorldSimulator simulator(model, 1);
  simulator.run_until(2);
  Observation seen = simulator.observe();
  CHECK(seen.stages[0].done == 0);
  CHECK(seen.stages[0].cpu_seconds == 0);
  CHECK(seen.stages[0].input_wait_seconds == Approx(2));
  CHECK(seen.memory_bytes == 11'000'000);
  simulator.apply({.actors = {3}, .prefetch = 4});
  simulator.run_until(4);
  seen = simulator.observe();
  CHECK(seen.stages[0].done == Approx(20).margin(1));
  simulator.apply({.actors = {9}, .prefetch = 4});
  simulator.apply({.actors = {3}, .prefetch = 4});  // Those that start up go at once.
  CHECK(simulator.current().memory_bytes <= 13'000'000 + 5'000'000);
  CHECK(simulator.current().leaving[0] == 0);
}

TEST_CASE("in a pause the trainer takes nothing, which is not waiting for data", "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.trainer_step_seconds = 0.05;
  model.pause = PauseModel{.every = 10, .seconds = 2};
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {8}, .prefetch = 4});
  simulator.run_until(10);
  simulator.observe();
  simulator.run_until(20);
  const Observation seen = simulator.observe();
  CHECK(seen.trainer_steps == Approx(160).margin(2));
  CHECK(seen.seconds == Approx(8).margin(0.1));
  CHECK(seen.trainer_wait_seconds == Approx(0).margin(0.1));
}

TEST_CASE("a tail draws a share of longer splits, and nothing else", "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.stages[0].tail = TailModel{.share = 0.1, .shape = 3};
  WorldSimulator simulator(model, 1);
  CHECK(rate_of(simulator) == Approx(10 / 1.05).epsilon(0.03));  // The mean multiple is 1.5.
}

TEST_CASE("the memory of each node is its own", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.nodes[1].memory_bytes = 18'000'000;
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {9, 4}, .prefetch = 4});
  simulator.run_until(10);
  CHECK_FALSE(simulator.out_of_memory());
  simulator.apply({.actors = {9, 9}, .prefetch = 4});
  CHECK(simulator.out_of_memory());
  CHECK(simulator.totals_of(1).out_of_memory);
  CHECK_FALSE(simulator.totals_of(0).out_of_memory);
}

TEST_CASE("a lowered limit counts four seconds later, also step by step on a ramp",
          "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.events = {{.at_seconds = 10, .memory_bytes = 15'000'000, .over_seconds = 10, .node = 1}};
  WorldSimulator simulator(model, 1);
  simulator.apply({.actors = {1, 8}, .prefetch = 4});  // 18 MB and up to 4 MB on the link.
  simulator.run_until(23.9);
  CHECK_FALSE(simulator.out_of_memory());
  simulator.run_until(24.1);
  CHECK(simulator.out_of_memory());
}

TEST_CASE("one seed gives one run, another seed another", "[tuner][world]") {
  PipelineModel model = two_nodes();
  model.stages[0].noise = 0.5;
  const auto trained = [&](std::uint64_t seed) {
    WorldSimulator simulator(model, seed);
    simulator.run_until(50);
    return simulator.totals().trainer_wait_seconds;
  };
  CHECK(trained(1) == trained(1));
  CHECK(trained(1) != trained(2));
}

}  // namespace forebay::tuner
