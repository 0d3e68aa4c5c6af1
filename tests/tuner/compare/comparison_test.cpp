#include "tuner/compare/comparison.h"

#include <atomic>
#include <set>

#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/world_simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

/// Two stages of 0.1 and 0.3 s on 8 CPUs, without noise: 20 splits/s by 2 and 6 actors.
PipelineModel two_stages(const std::string& name) {
  PipelineModel model;
  model.name = name;
  model.cpus = 8;
  model.memory_bytes = 1'000'000;
  model.base_bytes = 1000;
  model.queue_splits = 8;
  model.trainer_step_seconds = 0.01;
  model.prefetch_splits = 8;
  model.stages.resize(2);
  model.stages[0].name = "load";
  model.stages[0].seconds = 0.1;
  model.stages[1].name = "udf";
  model.stages[1].seconds = 0.3;
  for (StageModel& stage : model.stages) {
    stage.bytes_per_actor = 1000;
    stage.bytes_out = 10;
  }
  return model;
}

ComparisonOptions options_of(std::vector<PipelineModel> pipelines,
                             std::vector<std::string> policies) {
  ComparisonOptions options;
  options.pipelines = std::move(pipelines);
  options.policies = std::move(policies);
  options.make_machine = simulated_machines();
  options.make_world = simulated_worlds();
  return options;
}

TEST_CASE("60 decisions, or as many as reach 300 s past the last event", "[tuner][compare]") {
  PipelineModel model = two_stages("p");
  CHECK(decisions_for(model) == 60);
  model.events.resize(2);
  model.events[0].at_seconds = 300;
  model.events[1].at_seconds = 901;
  CHECK(decisions_for(model) == 601);  // 1201 s
}

TEST_CASE("the oracle reaches its own rate, one actor a stage what one actor can",
          "[tuner][compare]") {
  const PipelineModel model = two_stages("p");
  REQUIRE(oracle_of(model).splits_per_second == Approx(20));
  const auto runs = *compare(options_of({model}, {"oracle", "one"}));
  REQUIRE(runs.size() == 6);
  CHECK(runs[0].policy == "oracle");
  CHECK(runs[0].figures.ratio_after_30.value_or(0) == Approx(1).epsilon(0.01));
  CHECK(runs[0].figures.actors == Approx(8));
  CHECK(runs[0].figures.actors_fewest == 8);
  CHECK(runs[0].figures.cpus_used == Approx(8).epsilon(0.05));
  CHECK(runs[0].bottleneck_share == Approx(0.75));
  CHECK(runs[0].figures.decisions_to_95.value_or(99) <= 2);
  CHECK(runs[3].policy == "one");
  CHECK(runs[3].figures.ratio_overall == Approx(1 / 0.3 / 20).epsilon(0.02));
}

TEST_CASE("runs come by pipeline, policy and seed, whatever the threads, with the same figures",
          "[tuner][compare]") {
  std::vector<PipelineModel> pipelines = {two_stages("p"), two_stages("q")};
  for (PipelineModel& model : pipelines) model.stages[1].noise = 0.3;
  ComparisonOptions options = options_of(pipelines, {"greedy", "even"});
  options.seeds = 2;
  options.decisions = 10;
  const auto alone = *compare(options);
  options.threads = 4;
  std::atomic<std::uint64_t> told{0};
  options.progress = [&](std::uint64_t) { ++told; };
  const auto together = *compare(options);
  REQUIRE(alone.size() == 8);
  CHECK(told == 8);
  std::set<double> ratios;
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK(alone[i].pipeline == (i < 4 ? "p" : "q"));
    CHECK(alone[i].policy == (i % 4 < 2 ? "greedy" : "even"));
    CHECK(alone[i].seed == i % 2 + 1);
    CHECK(alone[i].figures.ratio_overall == together[i].figures.ratio_overall);
    CHECK(alone[i].figures.memory_peak == together[i].figures.memory_peak);
    ratios.insert(alone[i].figures.ratio_overall);
  }
  CHECK(ratios.size() == 4);  // two policies with two seeds; the pipelines are alike
}

TEST_CASE("after an event a run counts against the oracle of the new costs", "[tuner][compare]") {
  PipelineModel model = two_stages("p");
  ModelEvent slower;
  slower.at_seconds = 60;
  slower.stage = 1;
  slower.seconds_factor = 4;  // 0.1 + 1.2 s on 8 CPUs, in whole actors: 7 / 1.2 splits/s
  model.events = {slower};
  ComparisonOptions options = options_of({model}, {"oracle"});
  options.seeds = 1;
  const auto runs = *compare(options);
  REQUIRE(runs.size() == 1);
  CHECK(runs[0].decisions == 180);
  CHECK(runs[0].figures.recoveries.size() == 1);
  const auto& oracle = runs[0].record.trace.oracle;
  REQUIRE(oracle.size() == 2);
  CHECK(oracle[0].splits_per_second == Approx(20));
  CHECK(oracle[1].from_seconds == 60);
  CHECK(oracle[1].splits_per_second == Approx(8 / 1.3));  // the CPUs' limit, shared
  CHECK(runs[0].figures.ratio_overall == Approx(1).epsilon(0.02));
}

TEST_CASE("an impossible comparison is refused before anything runs", "[tuner][compare]") {
  const auto refused = check_comparison(options_of({two_stages("p")}, {"greedy", "greedi"}));
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.find("greedi") != std::string::npos);
  CHECK(check_comparison(options_of({two_stages("p")}, {"greedy", "oracle"})));
}

TEST_CASE("a stopped comparison leaves out the runs that have not ended", "[tuner][compare]") {
  ComparisonOptions options = options_of({two_stages("p")}, {"one"});
  int asked = 0;
  options.stopped = [&] { return ++asked > 90; };  // in the second run of 60 decisions
  CHECK(compare(options)->size() == 1);
}

/// The same two stages on two nodes, of 8 and of 4 CPUs: 20 and 10 splits/s.
PipelineModel two_nodes() {
  PipelineModel model = two_stages("nodes");
  model.nodes = {{.name = "n1", .cpus = 8, .memory_bytes = 1'000'000, .trainer = true},
                 {.name = "n2", .cpus = 4, .memory_bytes = 1'000'000}};
  return model;
}

TEST_CASE("the central tuner decides for all nodes of a world", "[tuner][compare]") {
  ComparisonOptions options = options_of({two_nodes()}, {"central", "greedy"});
  options.seeds = 1;
  const auto runs = *compare(options);
  REQUIRE(runs.size() == 2);
  CHECK(runs[0].figures.ratio_after_30.value_or(0) > 0.97);
  CHECK(runs[0].fed_workers.value() == Approx(1));
  CHECK_FALSE(runs[1].fed_workers);  // Each node decides for itself.
  CHECK(runs[0].record.faults == 0);
  REQUIRE(runs[0].nodes.size() == 2);
  CHECK(runs[0].nodes[1].share == Approx(1.0 / 3).epsilon(0.05));
}

TEST_CASE("a limit that falls while a node is away holds when it is back", "[tuner][compare]") {
  PipelineModel world = two_stages("away");
  for (StageModel& stage : world.stages) stage.bytes_per_actor = 10'000;
  world.nodes = {{.name = "own", .cpus = 4, .memory_bytes = 1'000'000, .trainer = true},
                 {.name = "b", .cpus = 8, .memory_bytes = 100'000}};
  world.events = {{.at_seconds = 10, .node = 1, .present = false},
                  {.at_seconds = 12, .memory_bytes = 40'000, .node = 1},
                  {.at_seconds = 30, .node = 1, .present = true}};
  ComparisonOptions options = options_of({world}, {"intune:no-network"});
  options.seeds = 1;
  options.decisions = 30;
  const auto runs = *compare(std::move(options));
  REQUIRE(runs.size() == 1);
  CHECK_FALSE(runs.front().out_of_memory);
}

TEST_CASE("the peak memory of a world that runs out of memory is the largest node's",
          "[tuner][compare]") {
  PipelineModel world = two_stages("short");
  world.nodes = {{.name = "own", .cpus = 8, .memory_bytes = 1'000'000, .trainer = true},
                 {.name = "b", .cpus = 8, .memory_bytes = 1'000'000}};
  world.events = {{.at_seconds = 11, .memory_bytes = 1500, .node = 1}};
  ComparisonOptions options = options_of({world}, {"one"});
  options.seeds = 1;
  const auto runs = *compare(std::move(options));
  REQUIRE(runs.size() == 1);
  REQUIRE(runs[0].out_of_memory);
  REQUIRE(runs[0].nodes.size() == 2);
  CHECK(runs[0].figures.memory_peak ==
        std::max(runs[0].nodes[0].memory_peak, runs[0].nodes[1].memory_peak));
}

TEST_CASE("a world that cannot be started ends a comparison with its name", "[tuner][compare]") {
  ComparisonOptions options = options_of({two_stages("p"), two_nodes()}, {"greedy"});
  options.seeds = 1;
  options.make_world = [](const PipelineModel&, std::uint64_t) {
    return Result<std::unique_ptr<ModelledWorld>>(fail(Code::kUnavailable, "no thread is left"));
  };
  const auto runs = compare(options);
  REQUIRE_FALSE(runs);
  CHECK(runs.error().code == Code::kUnavailable);
  CHECK(runs.error().message == "nodes: no thread is left");
}

TEST_CASE("without its periods a run keeps its figures", "[tuner][compare]") {
  ComparisonOptions options = options_of({two_stages("p")}, {"one"});
  options.keep_periods = false;
  const auto runs = *compare(options);
  REQUIRE(runs.size() == 3);
  CHECK(runs[0].record.trace.periods.empty());
  CHECK(runs[0].figures.ratio_overall > 0);
}

}  // namespace
}  // namespace forebay::tuner
