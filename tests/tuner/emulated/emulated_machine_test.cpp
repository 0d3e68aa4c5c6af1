#include "tuner/emulated/emulated_machine.h"

#include <thread>

#include "core/base/random.h"
#include "tests/support/threads.h"
#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineModel busy_line() {
  PipelineModel model =
      line_of({stage("load", 0.004), stage("decode", 0.008), stage("batch", 0.002)});
  model.stages[0].max_rate = 500;
  model.stages[1].cpu = 0.5;
  model.stages[2].noise = 0.5;
  return model;
}

TEST_CASE("a machine that is full of work ends at once and leaves no thread", "[tuner][emulated]") {
  const SystemClock clock;
  std::thread([] {}).join();  // A sanitizer starts a thread of its own beside the first.
  const std::size_t before = test::threads_of_this_process();
  for (int i = 0; i < 3; ++i) {
    PipelineModel model = busy_line();
    model.stages[1].seconds = i == 2 ? 3600 : 0.008;  // The last: an hour of work.
    EmulatedMachine machine(model, 1, clock);
    machine.apply({.actors = {8, 8, 8}, .prefetch = 2});
    machine.run_until(0.1);
  }
  CHECK(test::threads_of_this_process() == before);
}

TEST_CASE("a machine is resized all the time and goes on", "[tuner][emulated]") {
  constexpr std::uint64_t kSeed = 3;
  const SystemClock clock;
  EmulatedMachine machine(busy_line(), 1, clock);
  Random random(kSeed);
  std::uint64_t trained = 0;
  for (int i = 0; i < 60; ++i) {
    Allocation wanted{.actors = {}, .prefetch = 1 + random.below(6)};
    for (int k = 0; k < 3; ++k) wanted.actors.push_back(1 + random.below(12));
    machine.apply(wanted);
    machine.run_until(machine.now() + 0.02);
    const CurrentState current = machine.current();
    INFO("seed " << kSeed << ", step " << i);
    REQUIRE(current.actors == wanted.actors);
    REQUIRE(current.prefetch == wanted.prefetch);
    trained += machine.observe().trainer_steps;
  }
  CHECK(trained > 0);
  CHECK(machine.totals().trained >= trained);
  CHECK_FALSE(machine.failure());
  CHECK_FALSE(machine.out_of_memory());
}

TEST_CASE("queues hold as many splits as the model says, and the prefetch as many as allowed",
          "[tuner][emulated]") {
  PipelineModel model = line_of({stage("load", 0.001), stage("batch", 0.001)});
  model.trainer_step_seconds = 3600;
  const SystemClock clock;
  EmulatedMachine machine(model, 1, clock);
  machine.apply({.actors = {3, 2}, .prefetch = 5});
  while (machine.current().prefetched < 5 || machine.current().memory_bytes < 24'000'000) {
    machine.run_until(machine.now() + 0.01);
  }
  machine.run_until(machine.now() + 0.1);
  // 10 MB of base, 5 actors, 4 splits in the queue and 5 prefetched; those in hand cost nothing.
  CHECK(machine.current().memory_bytes == 24'000'000);
  machine.observe();
  machine.run_until(machine.now() + 0.1);
  const Observation seen = machine.observe();
  CHECK(seen.stages[0].queue_fill == 1);
  CHECK(seen.prefetch_fill == 1);
  CHECK(seen.stages[0].output_wait_seconds == Approx(3 * seen.seconds).epsilon(0.3));
  CHECK(seen.stages[0].queued_bytes == 4'000'000);
}

TEST_CASE("with order a started split counts as prefetched before it arrives",
          "[tuner][emulated]") {
  PipelineModel model = line_of({stage("load", 3600), stage("batch", 3600)});
  model.stages[1].ordered = true;
  const SystemClock clock;
  EmulatedMachine machine(model, 1, clock);
  machine.apply({.actors = {8, 8}, .prefetch = 6});
  CHECK(machine.current().prefetched == 6);
  machine.apply({.actors = {8, 8}, .prefetch = 2});
  CHECK(machine.current().prefetched == 6);  // They are on their way, whatever the queue is cut to.
}

TEST_CASE("a lowered memory limit ends a machine that stays above it", "[tuner][emulated]") {
  PipelineModel model = busy_line();
  model.memory_bytes = 100'000'000;
  model.events = {{.at_seconds = 0.1, .memory_bytes = 20'000'000}};
  const SystemClock clock;
  EmulatedMachine machine(model, 1, clock);
  machine.apply({.actors = {4, 4, 4}, .prefetch = 1});  // 22 MB at least.
  machine.run_until(3.5);
  CHECK_FALSE(machine.out_of_memory());
  machine.run_until(60);
  CHECK(machine.out_of_memory());
  CHECK(machine.now() < 59);
}

}  // namespace
}  // namespace forebay::tuner
