#include "engine/emulated/world_emulation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/emulated/one_node_world.h"
#include "engine/emulated/world_machine.h"
#include "tests/support/real_time.h"
#include "tests/tuner/sim/models.h"
#include "tuner/compare/world_run.h"
#include "tuner/world/world_simulator.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using tuner::Allocation;
using tuner::PipelineModel;

constexpr std::uint64_t kGigabyte = 1'000'000'000;

/// n1 is the trainer's; n2 is half as fast; the link of n3 carries 20 splits a second.
PipelineModel three_nodes() {
  PipelineModel model = tuner::line_of({tuner::stage("load", 0.03), tuner::stage("decode", 0.08)});
  model.name = "three";
  model.nodes = {{.name = "n1", .cpus = 3, .memory_bytes = kGigabyte, .trainer = true},
                 {.name = "n2", .cpus = 8, .memory_bytes = kGigabyte, .seconds_factor = 2},
                 {.name = "n3", .cpus = 8, .memory_bytes = kGigabyte, .link_rate = 2e7}};
  return model;
}

const Allocation kThreeEach{.actors = {3, 3, 3, 3, 3, 3}, .prefetch = 4};

struct Rates {
  double all = 0;
  double cpus = 0;
  std::vector<double> nodes = {};
};

/// The rates of a simulation from the middle of `seconds` to their end.
Rates simulated(const PipelineModel& model, const Allocation& allocation, double seconds) {
  tuner::WorldSimulator world(model, 1);
  world.apply(allocation);
  world.run_until(seconds / 2);
  std::vector<tuner::NodeTotals> before;
  for (std::size_t k = 0; k < world.nodes(); ++k) before.push_back(world.totals_of(k));
  world.run_until(seconds);
  Rates rates;
  for (std::size_t k = 0; k < world.nodes(); ++k) {
    const tuner::NodeTotals now = world.totals_of(k);
    rates.nodes.push_back(static_cast<double>(now.trained - before[k].trained) / (seconds / 2));
    rates.all += rates.nodes.back();
    rates.cpus += (now.cpu_seconds - before[k].cpu_seconds) / (seconds / 2);
  }
  return rates;
}

EmulationOutcome emulated(const EmulationSpec& spec) {
  const EmulationHooks hooks{.stopped = [] { return false; }, .show = [](const auto&) {}};
  auto outcome = emulate_world(spec, hooks);
  REQUIRE(outcome);
  return *outcome;
}

/// The figures of one emulated run, unless this machine's threads woke too late.
std::optional<std::vector<test::ComparedFigure>> compared_once(const EmulationSpec& spec,
                                                               const Rates& computed) {
  const EmulationOutcome real = emulated(spec);
  if (!real.lateness.is_made_up_for()) return std::nullopt;
  // What a node holds in its queues may differ at the edges of the interval.
  const double edges = 8 / (spec.seconds / 2);
  std::vector<test::ComparedFigure> figures = {
      {"splits/s", real.figures.splits_per_second(), computed.all},
      {"CPUs", real.figures.cpus_used(), computed.cpus}};
  for (std::size_t k = 0; k < computed.nodes.size(); ++k) {
    figures.push_back({spec.model.nodes[k].name, real.figures.nodes[k].splits_per_second,
                       computed.nodes[k], edges});
  }
  return figures;
}

void check_agreement(const PipelineModel& model, const Allocation& allocation, double seconds) {
  const EmulationSpec spec{
      .model = model, .allocation = allocation, .seconds = seconds, .policy = ""};
  const Rates computed = simulated(model, allocation, seconds);
  test::check_agreement(model.name, [&] { return compared_once(spec, computed); });
}

TEST_CASE("simulation and emulation agree on nodes of different speeds, CPUs and links",
          "[engine][emulated]") {
  check_agreement(three_nodes(), kThreeEach, 6);
}

TEST_CASE("simulation and emulation agree on nodes that share a file server and a trainer",
          "[engine][emulated]") {
  PipelineModel model = three_nodes();
  model.name = "shared";
  model.resources = {{.name = "nfs", .rate = 50}};
  model.stages[0].uses = {{"nfs", 1}};
  check_agreement(model, kThreeEach, 6);
  model.name = "fed";
  model.trainer_step_seconds = 0.025;
  check_agreement(model, kThreeEach, 6);
}

TEST_CASE("a node that is lost brings nothing, and when it is back as much as before",
          "[engine][emulated]") {
  PipelineModel model = three_nodes();
  model.events = {{.at_seconds = 1, .node = 1, .present = false},
                  {.at_seconds = 5, .node = 1, .present = true}};
  const EmulationOutcome lost =
      emulated({.model = model, .allocation = kThreeEach, .seconds = 4, .policy = ""});
  CHECK(lost.figures.nodes[1].splits_per_second == 0);
  CHECK(lost.figures.nodes[1].cpus_used == Approx(0).margin(0.01));
  CHECK(lost.figures.nodes[0].splits_per_second > 0);
  model.events[1].at_seconds = 2;
  model.name = "back";
  check_agreement(model, kThreeEach, 8);
}

TEST_CASE("a node that runs out of memory ends an emulated world", "[engine][emulated]") {
  PipelineModel model = three_nodes();
  model.nodes[1].memory_bytes = model.base_bytes + 2'500'000;  // Room for two actors.
  const EmulationOutcome ended =
      emulated({.model = model, .allocation = kThreeEach, .seconds = 600, .policy = ""});
  CHECK(ended.figures.out_of_memory);
  CHECK(ended.figures.nodes[1].out_of_memory);
  CHECK_FALSE(ended.figures.nodes[0].out_of_memory);
}

TEST_CASE("every node of an emulated world has a tuner of its own", "[engine][emulated]") {
  const PipelineModel model = three_nodes();
  const EmulationOutcome tuned = emulated({.model = model,
                                           .allocation = kThreeEach,
                                           .seconds = 2,
                                           .policy = "even",
                                           .period = std::chrono::milliseconds(500)});
  CHECK(tuned.decisions >= 3);
  CHECK_FALSE(tuned.fed_workers);  // No one decides for all.
  // Even: as many actors as the node has CPUs.
  CHECK(tuned.figures.allocation.actors == std::vector<std::uint32_t>{2, 1, 4, 4, 4, 4});
}

TEST_CASE("nobody decides for a node of an emulated world that is lost", "[engine][emulated]") {
  PipelineModel model = three_nodes();
  model.events = {{.at_seconds = 0.1, .node = 1, .present = false}};
  const EmulationOutcome tuned = emulated({.model = model,
                                           .allocation = kThreeEach,
                                           .seconds = 2,
                                           .policy = "even",
                                           .period = std::chrono::milliseconds(500)});
  CHECK(tuned.figures.allocation.actors == std::vector<std::uint32_t>{2, 1, 3, 3, 4, 4});
}

/// Splits a second under the central tuner over the second half of so many decisions.
double central_rate(const PipelineModel& model, std::uint64_t decisions,
                    const tuner::WorldMaker& make) {
  const tuner::RunRequest request{.model = model, .policy = "central", .decisions = decisions};
  const auto best = tuner::OracleSpan{.best = {.allocation = kThreeEach, .splits_per_second = 1}};
  const auto run = tuner::run_world(request, {best}, make, [] { return false; });
  REQUIRE(run);
  CHECK(run->record.faults == 0);
  const auto& periods = run->record.trace.periods;
  double splits = 0;
  double seconds = 0;
  for (std::size_t i = periods.size() / 2; i < periods.size(); ++i) {
    splits += static_cast<double>(periods[i].trained);
    seconds += periods[i].end_seconds - periods[i].begin_seconds;
  }
  return splits / seconds;
}

TEST_CASE("the central tuner brings an emulated world as far as a simulated one",
          "[engine][emulated]") {
  const PipelineModel model = three_nodes();
  const SystemClock clock;
  const double computed = central_rate(model, 6, tuner::simulated_worlds());
  test::check_agreement("the central tuner", [&] {
    const double real = central_rate(model, 6, emulated_worlds(clock, [] { return false; }));
    return std::optional<std::vector<test::ComparedFigure>>({{"splits/s", real, computed, 2}});
  });
}

TEST_CASE("the nodes of an emulated world ask the central tuner of a real job",
          "[engine][emulated]") {
  // The trainer takes 20 splits/s, and its own node can make 27: no other one is worth feeding,
  // which none of them can see by itself. With a plan of their own they make 13 to 15 of the 20; a
  // node that was fed a moment ago may still make a few.
  PipelineModel model = three_nodes();
  model.trainer_step_seconds = 0.05;
  const EmulationOutcome tuned = emulated({.model = model,
                                           .allocation = kThreeEach,
                                           .seconds = 8,
                                           .policy = "central",
                                           .period = std::chrono::milliseconds(250)});
  CHECK(tuned.decisions >= 6);
  const double others =
      tuned.figures.nodes[1].splits_per_second + tuned.figures.nodes[2].splits_per_second;
  CHECK(others < 0.5 * tuned.figures.splits_per_second());
  CHECK(tuned.fed_workers.value() < 2);
}

TEST_CASE("an emulated world refuses what it cannot run, by name", "[engine][emulated]") {
  const PipelineModel model = three_nodes();
  const EmulationHooks hooks{.stopped = [] { return true; }, .show = [](const auto&) {}};
  Allocation many = kThreeEach;
  many.actors[0] = WorldMachine::kMostThreads;
  const auto refused =
      emulate_world({.model = model, .allocation = many, .seconds = 1, .policy = ""}, hooks);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Code::kInvalid);
  CHECK(refused.error().message.starts_with("--allocation: 271 actors on 3 emulated nodes need"));
  const auto unknown = emulate_world(
      {.model = model, .allocation = kThreeEach, .seconds = 1, .policy = "greedi"}, hooks);
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().code == Code::kInvalid);
}

TEST_CASE("an emulated world that is stopped has the figures of its part", "[engine][emulated]") {
  const PipelineModel model = three_nodes();
  const EmulationHooks hooks{.stopped = [] { return true; }, .show = [](const auto&) {}};
  const auto stopped = emulate_world(
      {.model = model, .allocation = kThreeEach, .seconds = 600, .policy = ""}, hooks);
  REQUIRE(stopped);
  CHECK(stopped->figures.measured.at_seconds < 60);
  CHECK(stopped->figures.nodes.size() == 3);
}

}  // namespace
}  // namespace forebay
