#include <algorithm>

#include "tuner/agent/intune.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription two_stages() {
  PipelineDescription description;
  description.stages = {{"load", 64, 1}, {"decode", 64, 1}};
  description.max_prefetch = 64;
  description.prefetch_item_bytes = 50'000;
  return description;
}

// Both stages take `seconds` a split; the line does `rate` splits/s.
Observation interval(double rate, double waiting, double seconds = 0.1) {
  Observation seen;
  seen.seconds = 2;
  seen.limits = {8, 1'000'000};
  seen.prefetch = 1;
  for (int i = 0; i < 2; ++i) {
    StageObservation stage;
    stage.actors = 4;
    stage.actor_seconds = 8;
    stage.done = static_cast<std::uint64_t>(8 / seconds);
    stage.done_seconds = stage.done_cpu_seconds = stage.working_seconds = 8;
    stage.done_seconds_squared = 8 * seconds;
    stage.done_actors = 32 / seconds;
    seen.stages.push_back(stage);
  }
  seen.trainer_steps = static_cast<std::uint64_t>(rate * 2);
  seen.trainer_step_seconds = 2 - waiting;
  seen.trainer_wait_seconds = waiting;
  return seen;
}

struct Run {
  explicit Run(RewardMode reward = RewardMode::kUsable)
      : agent(two_stages(), reward, Ablation::kExploration) {}

  Agent agent;
  Online online{1};
  Network network{kNetworkShape};
  int tries = 0;

  void see(const Observation& seen) {
    agent.observe(seen, network);
    agent.choose();
    online.next(seen, agent, network);
    tries += online.trying() ? 1 : 0;
  }
  void intervals(int count, double rate, double waiting) {
    for (int i = 0; i < count; ++i) see(interval(rate, waiting));
  }
  void until_trying() {
    for (int i = 0; i < 60 && !online.trying(); ++i) intervals(1, 20, 1.5);
    REQUIRE(online.trying());
  }
  /// The sum of the network's values for the stages as they are.
  float promised() const {
    float sum = 0;
    for (const Features& row : agent.rows()) {
      Outputs said{};
      network.forward(row, said);
      for (const float value : said) sum += value;
    }
    return sum;
  }
};

TEST_CASE("nothing is tried while the trainer is fed", "[tuner][agent]") {
  Run run;
  run.intervals(60, 20, 0);
  CHECK(run.tries == 0);
}

TEST_CASE("a starved trainer has a few steps tried, and then no more", "[tuner][agent]") {
  Run run;
  run.intervals(200, 20, 1.5);
  CHECK(run.tries > 0);
  CHECK(run.tries <= 8);
  CHECK(run.online.converged());
  const int before = run.tries;
  run.intervals(100, 20, 1.5);
  CHECK(run.tries == before);
}

TEST_CASE("no step is tried that takes more of the rate than a try may cost", "[tuner][agent]") {
  // Both stages limit the line: one actor fewer takes a quarter of its rate.
  int tries = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    Agent agent(two_stages(), RewardMode::kUsable, Ablation::kExploration);
    Online online(seed);
    Network network(kNetworkShape);
    for (int i = 0; i < 100; ++i) {
      agent.observe(interval(20, 1.5), network);
      agent.choose();
      const Actions next = online.next(interval(20, 1.5), agent, network);
      if (!online.trying()) continue;
      ++tries;
      for (const std::uint8_t step : next.steps) CHECK(kSteps[step] >= 0);
    }
  }
  CHECK(tries > 8);
}

TEST_CASE("a change of the work is a reason to try again", "[tuner][agent]") {
  Run run;
  run.intervals(200, 20, 1.5);
  REQUIRE(run.online.converged());
  const int before = run.tries;
  for (int i = 0; i < 100; ++i) run.see(interval(5, 1.5, 0.4));
  CHECK(run.tries > before);
}

TEST_CASE("one lesson claims five per cent at most", "[tuner][agent]") {
  Run much;
  much.until_trying();
  much.intervals(1, 21.5, 1.5);
  Run more;
  more.until_trying();
  more.intervals(1, 22, 1.5);
  CHECK(much.network.weights() == more.network.weights());
  CHECK(much.network.weights() != Network(kNetworkShape).weights());
}

TEST_CASE("the network is not asked while the rate is what the costs allow", "[tuner][agent]") {
  Network eager(kNetworkShape);
  auto& weights = eager.weights();
  std::fill(weights.begin() + static_cast<std::ptrdiff_t>(eager.last_layer()), weights.end(), 5.0F);
  const auto steps = [&](double rate) {
    Agent agent(two_stages(), RewardMode::kUsable, Ablation::kExploration);
    for (int i = 0; i < 20; ++i) agent.observe(interval(rate, 1.5), eager);
    return agent.choose().steps;
  };
  CHECK(steps(20) != std::vector<std::uint8_t>{0, 0});
  CHECK(steps(40) == std::vector<std::uint8_t>{0, 0});
}

TEST_CASE("a step that brought more is worth more to the network afterwards", "[tuner][agent]") {
  Run run;
  run.until_trying();
  const auto before = run.network.weights();
  const float promised = run.promised();
  run.intervals(1, 21, 1.5);
  CHECK(run.promised() > promised);
  CHECK(run.network.weights() != before);
  for (std::size_t i = 0; i < run.network.last_layer(); ++i) {
    CHECK(run.network.weights()[i] == before[i]);  // only the last layer learns live
  }
}

TEST_CASE("the gain of a step is counted by the chosen reward", "[tuner][agent]") {
  // A slightly higher rate, for much more of the memory.
  Observation dear = interval(21, 1.5);
  dear.prefetch = 8;
  Run usable;
  usable.until_trying();
  const float usable_before = usable.promised();
  usable.see(dear);
  CHECK(usable.promised() > usable_before);
  Run paper(RewardMode::kPaper);
  paper.until_trying();
  const float paper_before = paper.promised();
  paper.see(dear);
  CHECK(paper.promised() < paper_before);
}

}  // namespace
}  // namespace forebay::tuner
