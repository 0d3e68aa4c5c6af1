#include "tuner/agent/online.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

Layout two_stages() {
  Layout layout;
  layout.stages = {{"load", 64, 1}, {"decode", 64, 1}};
  return layout;
}

// Both stages take 0.1 s a split; the line could do `possible` splits/s and does `rate`.
Observation interval(double rate, double waiting) {
  Observation seen;
  seen.seconds = 2;
  seen.limits = {8, 1'000'000};
  seen.prefetch = 1;
  for (int i = 0; i < 2; ++i) {
    StageObservation stage;
    stage.actors = 4;
    stage.actor_seconds = 8;
    stage.done = 80;
    stage.done_seconds = stage.done_cpu_seconds = stage.working_seconds = 8;
    stage.done_seconds_squared = 0.8;
    stage.done_actors = 320;
    seen.stages.push_back(stage);
  }
  seen.trainer_steps = static_cast<std::uint64_t>(rate * 2);
  seen.trainer_step_seconds = 2 - waiting;
  seen.trainer_wait_seconds = waiting;
  return seen;
}

struct Run {
  Agent agent{two_stages(), RewardMode::kUsable, Ablation::kNone};
  Online online{1};
  Network network{kNetworkShape};
  int tries = 0;

  void intervals(int count, double rate, double waiting) {
    for (int i = 0; i < count; ++i) {
      const Observation seen = interval(rate, waiting);
      agent.observe(seen, network);
      agent.choose();
      online.next(seen, agent, network);
      tries += online.trying() ? 1 : 0;
    }
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

TEST_CASE("a step that brought more is worth more to the network afterwards", "[tuner][agent]") {
  Run run;
  run.intervals(30, 20, 1.5);
  const auto before = run.network.weights();
  while (!run.online.trying()) {
    if (run.online.converged()) return;  // nothing was left to try with this seed
    run.intervals(1, 20, 1.5);
  }
  run.intervals(1, 24, 1.5);
  CHECK(run.network.weights() != before);
  for (std::size_t i = 0; i < run.network.last_layer(); ++i) {
    CHECK(run.network.weights()[i] == before[i]);  // only the last layer learns live
  }
}

}  // namespace
}  // namespace forebay::tuner
