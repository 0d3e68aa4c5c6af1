#include "tuner/paper/paper_agent.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tuner/guard.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

// The outputs of the last layer become these numbers whatever the input.
Network saying(const PaperOutputs& advantages) {
  Network network(kPaperShape);
  auto& weights = network.weights();
  std::copy(advantages.begin(), advantages.end(), weights.end() - kPaperOutputs);
  return network;
}

// The last observation and the mean rate of the last ten of so many periods.
double rate_with(const PipelineModel& model, Policy& policy, int decisions) {
  Simulator simulator(model, 1);
  Guard guard(simulator.description());
  std::uint64_t before = 0;
  for (int i = 1; i <= decisions; ++i) {
    for (int step = 1; step <= 20; ++step) {
      simulator.run_until(2.0 * (i - 1) + 0.1 * step);
      simulator.apply(guard.step(simulator.current()));
    }
    guard.admit(policy.decide(simulator.observe()).allocation, simulator.current());
    simulator.apply(guard.step(simulator.current()));
    if (i == decisions - 10) before = simulator.totals().trained;
  }
  REQUIRE_FALSE(simulator.out_of_memory());
  return static_cast<double>(simulator.totals().trained - before) / 20;
}

TEST_CASE("the step with the largest advantage is taken, if it promises the margin",
          "[tuner][paper]") {
  const std::vector<PaperFeatures> rows(2);
  using Steps = std::vector<std::uint8_t>;
  CHECK(best_steps(saying({-1, 0, 2, 1}), rows, 0.5F) == Steps{3, 3});
  CHECK(best_steps(saying({-1, 0.4F, 0, 0}), rows, 0.5F) == Steps{0, 0});
  constexpr float kNone = std::numeric_limits<float>::quiet_NaN();
  CHECK(best_steps(saying({kNone, kNone, kNone, kNone}), rows, 0.5F) == Steps{0, 0});
}

TEST_CASE("steps go from what stands, within bounds and memory", "[tuner][paper]") {
  PipelineDescription description;
  description.stages = {{"load", 8, 10}, {"decode", 8, 10}};
  description.max_prefetch = 16;
  const Allocation standing{.actors = {3, 6}, .prefetch = 4};
  const Limits limits{.cpus = 8, .memory_bytes = 1000};
  const Allocation next = stepped(description, limits, standing, {1, 4});
  CHECK(next.actors == std::vector<std::uint32_t>{1, 8});
  CHECK(next.prefetch == 4);
  const Limits little{.cpus = 8, .memory_bytes = 95};
  CHECK(stepped(description, little, standing, {4, 0}).actors == std::vector<std::uint32_t>{3, 6});
}

TEST_CASE("live lessons move what the network says towards what was measured", "[tuner][paper]") {
  Random random(3);
  Network network(kPaperShape, random);
  PaperLesson lesson{.step = 3, .advantage = 4};
  lesson.row.fill(0.5F);
  const auto error = [&] {
    PaperOutputs said{};
    network.forward(lesson.row, said);
    return std::abs(said[2] - lesson.advantage);
  };
  const float before = error();
  const std::vector<float> weights = network.weights();
  fine_tune(network, std::vector<PaperLesson>(20, lesson));
  CHECK(error() < before);
  for (std::size_t i = 0; i < network.last_layer(); ++i) {
    REQUIRE(network.weights()[i] == weights[i]);
  }
}

TEST_CASE("the agent as published tunes pipelines that it has not seen", "[tuner][paper]") {
  double sum = 0;
  constexpr int kPipelines = 12;
  for (std::uint64_t seed = 500; seed < 500 + kPipelines; ++seed) {
    const PipelineModel model = random_pipeline(seed);
    auto policy = PaperAgent::make(description_of(model), 1).value();
    sum += rate_with(model, *policy, 60) / oracle_of(model).splits_per_second;
  }
  CHECK(sum / kPipelines > 0.8);
}

TEST_CASE("without pre-training it stays where it is, so the weights matter", "[tuner][paper]") {
  const PipelineModel model = random_pipeline(500);
  PaperAgent untrained(description_of(model), Network(kPaperShape), 1);
  auto trained = PaperAgent::make(description_of(model), 1).value();
  CHECK(rate_with(model, untrained, 40) < 0.8 * rate_with(model, *trained, 40));
}

}  // namespace
}  // namespace forebay::tuner
