#include "engine/emulated/world_machine.h"

#include "core/base/clock.h"
#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

constexpr std::uint64_t kMemory = 1'000'000'000;

TEST_CASE("with order a split that was issued counts as prefetched on the trainer's node",
          "[engine][emulated]") {
  tuner::PipelineModel model = tuner::line_of({tuner::stage("load", 3600)});
  model.stages.back().ordered = true;
  model.prefetch_splits = 6;
  model.nodes = {{.name = "n1", .cpus = 4, .memory_bytes = kMemory, .trainer = true},
                 {.name = "n2", .cpus = 4, .memory_bytes = kMemory}};
  const SystemClock clock;
  const auto machine = WorldMachine::make(model, 1, clock);
  REQUIRE(machine);
  CHECK((*machine)->current_of(0).prefetched == 6);
  (*machine)->apply_to(0, {.actors = {1}, .prefetch = 2});
  CHECK((*machine)->current_of(0).prefetched == 6);  // They get there all the same.
  CHECK((*machine)->current_of(1).prefetched == 0);
}

TEST_CASE("a node that is not fed finishes what it holds, and goes on when it is fed again",
          "[engine][emulated]") {
  tuner::PipelineModel model = tuner::line_of({tuner::stage("load", 0.01)});
  model.nodes = {{.name = "n1", .cpus = 4, .memory_bytes = kMemory, .trainer = true},
                 {.name = "n2", .cpus = 4, .memory_bytes = kMemory}};
  const SystemClock clock;
  const auto machine = WorldMachine::make(model, 1, clock);
  REQUIRE(machine);
  const auto trained = [&] { return (*machine)->totals_of(1).trained; };
  const auto run_for = [&](double seconds) { (*machine)->run_until((*machine)->now() + seconds); };
  while (trained() == 0) run_for(0.1);
  (*machine)->set_fed(1, false);
  // It holds a few dozen splits at most, of 10 ms each.
  std::uint64_t before = trained();
  int looks = 0;
  for (run_for(0.5); trained() != before && looks < 40; run_for(0.5), ++looks) before = trained();
  REQUIRE(looks < 40);
  (*machine)->set_fed(1, true);
  while (trained() == before) run_for(0.1);
  CHECK((*machine)->totals().trained >= trained());
}

}  // namespace
}  // namespace forebay
