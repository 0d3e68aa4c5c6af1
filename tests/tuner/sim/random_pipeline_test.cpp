#include "tuner/sim/random_pipeline.h"

#include <algorithm>
#include <cmath>

#include "core/base/random.h"
#include "tuner/plan/plan.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kPipelines = 400;

/// Between one and twice the oracle's actors, at random.
Allocation some_allocation(const PipelineModel& model, Random& random) {
  Allocation some = oracle_of(model).allocation;
  for (std::size_t i = 0; i < some.actors.size(); ++i) {
    some.actors[i] = std::min(1 + random.below(2 * some.actors[i]), model.stages[i].max_actors);
  }
  some.prefetch = 1 + random.below(2 * model.prefetch_splits);
  return some;
}

std::uint64_t counted_again(const PipelineModel& model, const Observation& seen) {
  std::uint64_t bytes = model.base_bytes;
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    const StageObservation& stage = seen.stages[i];
    bytes += (stage.actors + stage.leaving) * model.stages[i].bytes_per_actor + stage.queued_bytes;
  }
  return bytes;
}

}  // namespace

TEST_CASE("the same seed gives the same pipeline, another seed another", "[tuner][sim][random]") {
  const PipelineModel first = random_pipeline(5);
  CHECK(first.stages[0].seconds == random_pipeline(5).stages[0].seconds);
  CHECK(first.memory_bytes == random_pipeline(5).memory_bytes);
  CHECK(first.stages[0].seconds != random_pipeline(6).stages[0].seconds);
}

TEST_CASE("random pipelines vary as widely as documented", "[tuner][sim][random]") {
  int contended = 0;
  int waiting = 0;
  int trainer_bound = 0;
  int max_fits = 0;
  for (std::uint64_t seed = 0; seed < kPipelines; ++seed) {
    const PipelineModel model = random_pipeline(seed);
    REQUIRE(model.stages.size() >= 3);
    REQUIRE(model.stages.size() <= 9);
    REQUIRE(model.cpus >= 8);
    REQUIRE(model.cpus <= 128);
    const auto any = [&](auto&& what) {
      return std::any_of(model.stages.begin(), model.stages.end(), what);
    };
    contended += any([](const StageModel& stage) { return stage.alpha > 0; });
    waiting += any([](const StageModel& stage) { return stage.cpu < 0.35; });
    const double rate = oracle_of(model).splits_per_second;
    trainer_bound += rate > 0.999 * trainer_rate_of(model);
    CHECK(rate > 0);
    CHECK(rate <= 400.001);
    const PipelineDescription description = description_of(model);
    CHECK(worst_case_bytes(description, one_each(description)) <= model.memory_bytes);
    Allocation most = one_each(description);
    for (std::size_t i = 0; i < model.stages.size(); ++i) {
      most.actors[i] = std::min(model.stages[i].max_actors, static_cast<unsigned>(model.cpus));
    }
    max_fits += worst_case_bytes(description, most) <= model.memory_bytes;
  }
  // Shares of 2/3, 1/3, 1/5 and about 2/3, within four standard errors.
  CHECK(std::abs(contended / 400.0 - 0.667) < 0.1);
  CHECK(std::abs(waiting / 400.0 - 0.333) < 0.1);
  CHECK(std::abs(trainer_bound / 400.0 - 0.2) < 0.1);
  CHECK(std::abs(max_fits / 400.0 - 0.67) < 0.12);
}

TEST_CASE("events of random pipelines leave one actor a stage legal", "[tuner][sim][random]") {
  for (std::uint64_t seed = 0; seed < kPipelines; ++seed) {
    const PipelineModel model = random_pipeline(seed, {.events = true});
    REQUIRE(model.events.size() >= 2);
    Allocation least = one_each(description_of(model));
    least.prefetch = 1;
    double before = 0;
    for (const ModelEvent& event : model.events) {
      CHECK(event.at_seconds >= before + 119);
      before = event.at_seconds;
      const PipelineModel now = model_at(model, event.at_seconds);
      CHECK(worst_case_bytes(description_of(model), least) <= now.memory_bytes);
    }
    const PipelineModel last = model_at(model, before);
    CHECK(last.cpus == model.cpus);
    CHECK(last.memory_bytes == model.memory_bytes);
    CHECK(last.trainer_step_seconds == model.trainer_step_seconds);
  }
}

TEST_CASE("without noise the simulator's throughput is the formula's", "[tuner][sim][random]") {
  int at_the_machines_limit = 0;
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    PipelineModel model = random_pipeline(seed, {.most_noise = 0});
    model.memory_bytes = std::uint64_t{1} << 50;
    Random random(seed);
    const Allocation some = some_allocation(model, random);
    const double rate =
        steady_rate(costs_of(model), some.actors, model.cpus, trainer_rate_of(model));
    const double seconds = std::max(60.0, 1500 / rate);
    Simulator simulator(model, seed);
    simulator.apply(some);
    simulator.run_until(seconds);  // Queues fill.
    simulator.observe();
    simulator.run_until(3 * seconds);
    INFO("seed " << seed);
    const double measured = simulator.observe().splits_per_second();
    // Where CPUs are the limit, actors in step with each other can leave some unused for moments
    // (the independent simulation says the same to four digits).
    const bool of_machine = rate == machine_rate(costs_of(model), some.actors, model.cpus);
    at_the_machines_limit += of_machine;
    CHECK(measured == Approx(rate).epsilon(of_machine ? 0.1 : 0.01));
    CHECK(measured < rate * 1.003);
  }
  CHECK(at_the_machines_limit > 3);
}

TEST_CASE("nothing is lost: splits, bytes and time add up while actors come and go",
          "[tuner][sim][random]") {
  for (std::uint64_t seed = 200; seed < 215; ++seed) {
    PipelineModel model = random_pipeline(seed, {.events = true});
    model.memory_bytes = std::uint64_t{1} << 50;
    for (ModelEvent& event : model.events) event.memory_bytes.reset();
    Simulator simulator(model, seed);
    Random random(seed);
    std::vector<std::uint64_t> done(model.stages.size());
    std::uint64_t trained = 0;
    double cpus_before = model.cpus;
    for (int decision = 1; decision <= 150; ++decision) {
      simulator.run_until(2 * decision);
      const Observation seen = simulator.observe();
      INFO("seed " << seed << ", decision " << decision);
      REQUIRE(seen.memory_bytes == counted_again(model, seen));
      REQUIRE(seen.memory_peak >= seen.memory_bytes);
      double cpu = 0;
      trained += seen.trainer_steps;
      for (std::size_t i = 0; i < model.stages.size(); ++i) {
        const StageObservation& stage = seen.stages[i];
        done[i] += stage.done;
        cpu += stage.cpu_seconds;
        const double time =
            stage.working_seconds + stage.input_wait_seconds + stage.output_wait_seconds;
        REQUIRE(time == Approx(stage.actor_seconds).margin(1e-6));
        REQUIRE(stage.input_wait_seconds >= -1e-6);
        REQUIRE(stage.output_wait_seconds >= -1e-6);
        REQUIRE(stage.cpu_seconds <= stage.working_seconds * model.stages[i].cpu + 1e-6);
        REQUIRE(stage.done_cpu_seconds + stage.done_ready_seconds <= stage.done_seconds + 1e-6);
        REQUIRE(stage.queue_fill <= 1);
      }
      // The splits between two stages are queued or in the hands of actors.
      for (std::size_t i = 0; i + 1 < model.stages.size(); ++i) {
        const StageObservation& here = seen.stages[i];
        const StageObservation& next = seen.stages[i + 1];
        const std::uint64_t between = done[i] - done[i + 1];
        const std::uint64_t queued = here.queued_bytes / model.stages[i].bytes_out;
        REQUIRE(between >= queued);
        REQUIRE(between <= queued + here.actors + here.leaving + next.actors + next.leaving);
      }
      REQUIRE(cpu <= 2 * std::max(cpus_before, seen.limits.cpus) * (1 + 1e-9));
      cpus_before = seen.limits.cpus;
      REQUIRE(simulator.totals().trained == trained);
      simulator.apply(some_allocation(model, random));
    }
  }
}

}  // namespace forebay::tuner
