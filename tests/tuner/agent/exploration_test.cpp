#include "tuner/agent/exploration.h"

#include "tests/tuner/hard_world.h"
#include "tuner/agent/intune.h"
#include "tuner/guard.h"
#include "tuner/world/world_simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription one_stage() {
  PipelineDescription description;
  description.stages = {{"decode", 64, 10}};
  description.default_prefetch = 4;
  description.max_prefetch = 256;
  description.prefetch_item_bytes = 1;
  return description;
}

// A pipeline of one stage whose splits take 0.2 s, as reports of two seconds each.
class Reported {
 public:
  Observation interval(std::uint32_t actors, std::uint32_t prefetch, double rate,
                       bool fed = false) {
    at_ += 2;
    const double done = 2 * rate;
    Observation seen{.at_seconds = at_, .seconds = 2, .limits = {.cpus = 64, .memory_bytes = 2000}};
    StageObservation stage;
    stage.actors = actors;
    stage.actor_seconds = 2.0 * actors;
    stage.done = static_cast<std::uint64_t>(done);
    stage.done_actors = done * actors;
    stage.working_seconds = stage.done_seconds = stage.done_cpu_seconds = 0.2 * done;
    stage.cpu_seconds = stage.done_cpu_seconds;
    stage.done_seconds_squared = 0.2 * 0.2 * done;
    stage.input_wait_seconds = stage.actor_seconds - stage.working_seconds;
    seen.stages = {stage};
    seen.trainer_steps = stage.done;
    seen.trainer_step_seconds = 0.001 * done;
    seen.trainer_wait_seconds = fed ? 0 : 2 - seen.trainer_step_seconds;
    seen.prefetch = prefetch;
    return seen;
  }

  Observation paused(std::uint32_t actors, std::uint32_t prefetch) {
    Observation seen = interval(actors, prefetch, 0);
    seen.seconds = seen.trainer_wait_seconds = 0;
    return seen;
  }

  // The outcome of a plan of so many actors.
  Allocation next(const Observation& seen, std::uint32_t planned) {
    known_.observe(seen);
    return exploration_
        .next(seen, known_,
              {.allocation = {{planned}, 4}, .expected_splits_per_second = planned / 0.2})
        .allocation;
  }

  const Exploration& exploration() const { return exploration_; }

 private:
  double at_ = 0;
  PipelineEstimate known_{one_stage()};
  Exploration exploration_{one_stage()};
};

TEST_CASE("more prefetch is tried where the trainer waits and no stage is busy", "[tuner][agent]") {
  Reported run;
  CHECK(run.next(run.interval(8, 4, 10), 8).prefetch == 4);
  CHECK(run.next(run.interval(8, 4, 10), 8).prefetch == 16);
  CHECK(run.exploration().trying());
}

TEST_CASE("what was better stays beside the plan", "[tuner][agent]") {
  Reported run;
  run.next(run.interval(8, 4, 10), 8);
  run.next(run.interval(8, 4, 10), 8);
  for (int i = 0; i < 3; ++i) run.next(run.interval(8, 16, 36), 8);
  CHECK_FALSE(run.exploration().trying());
  CHECK(run.next(run.interval(8, 16, 36), 9) == Allocation{{9}, 16});
}

TEST_CASE("what was no better is given up, and not tried again at once", "[tuner][agent]") {
  Reported run;
  run.next(run.interval(8, 4, 10), 8);
  run.next(run.interval(8, 4, 10), 8);
  for (int i = 0; i < 3; ++i) run.next(run.interval(8, 16, 10), 8);
  CHECK_FALSE(run.exploration().trying());
  for (int i = 0; i < 6; ++i) CHECK(run.next(run.interval(8, 4, 10), 8).prefetch == 4);
}

TEST_CASE("a gain that is given up says how much more may be chance", "[tuner][agent]") {
  Reported run;
  run.next(run.interval(8, 4, 10), 8);
  run.next(run.interval(8, 4, 10), 8);
  std::string outcome;
  for (int i = 0; i < 3 && outcome.empty(); ++i) {
    run.next(run.interval(8, 16, 10.5), 8);
    outcome = run.exploration().outcome();
  }
  // 3 intervals of 21 splits: 2 % and half of 1 / √(1 + 63).
  CHECK(outcome == "more prefetch brought 5 % more: given up, since 8 % more may be chance");
}

TEST_CASE("exploration leaves a fed trainer alone", "[tuner][agent]") {
  Reported run;
  for (int i = 0; i < 20; ++i) {
    CHECK(run.next(run.interval(8, 4, 10, true), 8) == Allocation{{8}, 4});
    CHECK_FALSE(run.exploration().trying());
  }
}

TEST_CASE("nothing is tried where the costs allow no more than is reached", "[tuner][agent]") {
  Reported run;
  for (int i = 0; i < 20; ++i) {
    CHECK(run.next(run.interval(8, 4, 40), 8) == Allocation{{8}, 4});
  }
}

TEST_CASE("a rate below what was once reached leads back to where it was", "[tuner][agent]") {
  Reported run;
  for (int i = 0; i < 5; ++i) run.next(run.interval(8, 4, 40), 8);
  Allocation next{{4}, 4};
  for (int i = 0; i < 8 && next.actors[0] == 4; ++i) next = run.next(run.interval(4, 4, 20), 4);
  CHECK(next.actors[0] == 8);
  CHECK(run.exploration().words() == "goes back to the best that was reached");
}

TEST_CASE("what is made in a pause of the trainer gets room", "[tuner][agent]") {
  Reported run;
  for (int i = 0; i < 5; ++i) run.next(run.interval(8, 4, 40), 8);
  run.next(run.paused(8, 4), 8);
  // 1.2 · 40 splits/s · 2 s and then 4 s
  CHECK(run.next(run.interval(8, 4, 40), 8).prefetch == 96);
  for (int i = 0; i < 3; ++i) run.next(run.interval(8, 96, 40), 8);
  run.next(run.paused(8, 96), 8);
  run.next(run.paused(8, 96), 8);
  CHECK(run.next(run.interval(8, 96, 40), 8).prefetch == 192);
}

TEST_CASE("a try costs no memory that is not there", "[tuner][agent]") {
  Reported run;
  Observation seen = run.interval(8, 4, 10);
  for (int i = 0; i < 8; ++i) {
    seen = run.interval(8, seen.prefetch, 10);
    seen.limits.memory_bytes = 90;  // 8 actors of 10 and 10 items
    CHECK(run.next(seen, 8).prefetch <= 10);
  }
}

double rate_in(const PipelineModel& model, Ablation ablation) {
  WorldSimulator simulator(model, 2);
  Guard guard(simulator.description());
  auto policy =
      Intune::make({.description = simulator.description(), .ablation = ablation}).value();
  std::uint64_t before = 0;
  for (int i = 1; i <= 50; ++i) {
    for (int step = 1; step <= 20; ++step) {
      simulator.run_until(2.0 * (i - 1) + 0.1 * step);
      simulator.apply(guard.step(simulator.current()));
    }
    guard.admit(policy->decide(simulator.observe()).allocation, simulator.current());
    if (i == 30) before = simulator.totals().trained;
  }
  REQUIRE_FALSE(simulator.totals().out_of_memory);
  return static_cast<double>(simulator.totals().trained - before);
}

TEST_CASE("in worlds that a plan cannot say, exploration finds what the plan does not",
          "[tuner][agent]") {
  for (const std::uint64_t seed : {12U, 20U, 35U, 71U, 84U}) {
    const PipelineModel model = hard_world(seed);
    INFO(model.name);
    const double plan = rate_in(model, Ablation::kNetwork);
    CHECK(rate_in(model, Ablation::kExploration) < 1.1 * plan);
    CHECK(rate_in(model, Ablation::kNone) > 1.25 * plan);
  }
}

}  // namespace
}  // namespace forebay::tuner
