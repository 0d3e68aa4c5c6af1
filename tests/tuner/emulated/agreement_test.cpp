#include <future>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "tests/support/real_time.h"
#include "tests/tuner/sim/models.h"
#include "tuner/emulated/emulated_machine.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/world_simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A pipeline, and an allocation of it to compare.
struct Case {
  PipelineModel model;
  Allocation allocation;
};

/// The figures of a run after its first second.
struct Figures {
  double splits_per_second = 0;
  double cpus_busy = 0;
  Lateness lateness;
};

PipelineModel on_32_cpus(const std::string& name, std::vector<StageModel> stages) {
  PipelineModel model = line_of(std::move(stages));
  model.name = name;
  model.cpus = 32;
  model.queue_splits = 8;
  for (StageModel& each : model.stages) each.noise = 0.1;
  return model;
}

template <class Machine>
Figures figures_of(Machine& machine, const Case& of, double seconds) {
  machine.apply(of.allocation);
  machine.run_until(1);
  const SimTotals before = machine.totals();
  machine.run_until(seconds);
  const SimTotals after = machine.totals();
  const double passed = after.seconds - before.seconds;
  return {.splits_per_second = static_cast<double>(after.trained - before.trained) / passed,
          .cpus_busy = (after.cpu_seconds - before.cpu_seconds) / passed,
          .lateness = {}};
}

Figures simulated(const Case& of) {
  if (is_world(of.model)) {
    WorldSimulator world(of.model, 1);
    return figures_of(world, of, 200);
  }
  Simulator simulator(of.model, 1);
  return figures_of(simulator, of, 200);
}

Figures emulated(const Case& of) {
  const SystemClock clock;
  EmulatedMachine machine(of.model, 1, clock);
  Figures figures = figures_of(machine, of, 5);
  figures.lateness = machine.lateness();
  return figures;
}

/// The figures of one run of each case, all at once, unless this machine's threads woke too late.
std::optional<std::vector<test::ComparedFigure>> compared_once(const std::vector<Case>& cases,
                                                               const std::vector<Figures>& of) {
  std::vector<std::future<Figures>> running;
  for (const Case& each : cases) {
    running.push_back(std::async(std::launch::async, [&each] { return emulated(each); }));
  }
  std::vector<test::ComparedFigure> compared;
  bool on_time = true;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Figures real = running[i].get();
    const std::string& name = cases[i].model.name;
    on_time = on_time && real.lateness.is_made_up_for();
    compared.push_back({name + " splits/s", real.splits_per_second, of[i].splits_per_second});
    compared.push_back({name + " CPUs", real.cpus_busy, of[i].cpus_busy});
  }
  if (!on_time) return std::nullopt;
  return compared;
}

void check_agreement(const std::vector<Case>& cases) {
  std::vector<Figures> computed;
  for (const Case& each : cases) computed.push_back(simulated(each));
  test::check_agreement(cases.front().model.name, [&] { return compared_once(cases, computed); });
}

TEST_CASE("simulation and emulation agree where the slowest stage decides", "[tuner][agreement]") {
  // One stage as the bottleneck, and one that mostly waits and has a limited rate of starts.
  Case slowest{
      on_32_cpus("slowest", {stage("load", 0.03), stage("udf", 0.08), stage("batch", 0.02)}),
      {.actors = {6, 10, 4}, .prefetch = 8}};
  Case waiting{on_32_cpus("waiting", {stage("load", 0.2), stage("decode", 0.05)}),
               {.actors = {40, 10}, .prefetch = 8}};
  waiting.model.stages[0].cpu = 0.05;
  waiting.model.stages[0].max_rate = 150;
  check_agreement({slowest, waiting});
}

TEST_CASE("simulation and emulation agree where there are too few CPUs", "[tuner][agreement]") {
  // 160 actors for 32 CPUs, stages of very different length; and a stage among them that waits.
  Case crowded{on_32_cpus("crowded", {stage("load", 0.01), stage("udf", 0.12), stage("copy", 0.03),
                                      stage("batch", 0.02)}),
               {.actors = {40, 40, 40, 40}, .prefetch = 8}};
  Case mixed{on_32_cpus("mixed", {stage("load", 0.2), stage("decode", 0.1), stage("batch", 0.06)}),
             {.actors = {60, 24, 14}, .prefetch = 8}};
  mixed.model.stages[0].cpu = 0.3;
  check_agreement({crowded, mixed});
}

TEST_CASE("simulation and emulation agree where actors get into each other's way",
          "[tuner][agreement]") {
  Case contended{
      on_32_cpus("contended", {stage("load", 0.02), stage("udf", 0.05), stage("batch", 0.02)}),
      {.actors = {6, 16, 5}, .prefetch = 8}};
  contended.model.stages[1].alpha = 0.03;
  contended.model.stages[1].beta = 0.002;
  Case fed{on_32_cpus("trainer", {stage("load", 0.03), stage("udf", 0.06)}),
           {.actors = {8, 16}, .prefetch = 4}};
  fed.model.trainer_step_seconds = 0.008;
  check_agreement({contended, fed});
}

TEST_CASE(
    "simulation and emulation agree where stages share resources, and where splits leave in "
    "order",
    "[tuner][agreement]") {
  Case shared{on_32_cpus("shared", {stage("load", 0.03), stage("udf", 0.06), stage("batch", 0.02)}),
              {.actors = {8, 16, 6}, .prefetch = 8}};
  shared.model.resources = {{.name = "dram", .rate = 250}, {.name = "disk", .rate = 120}};
  shared.model.stages[0].cpu = 0.2;
  shared.model.stages[0].uses = {{"disk", 1}};
  shared.model.stages[1].uses = {{"dram", 1.5}};
  shared.model.stages[2].uses = {{"dram", 1}};
  Case ordered{on_32_cpus("ordered", {stage("load", 0.02), stage("udf", 0.05)}),
               {.actors = {4, 8}, .prefetch = 12}};
  // Little noise: with order it costs much of the rate, and in a short run more or less by chance.
  ordered.model.stages[1].noise = 0.15;
  ordered.model.stages[1].ordered = true;
  check_agreement({shared, ordered});
}

}  // namespace
}  // namespace forebay::tuner
