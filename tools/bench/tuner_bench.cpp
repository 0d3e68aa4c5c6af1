#include <algorithm>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/median.h"
#include "tools/bench/bench.h"
#include "tools/bench/bench_setup.h"
#include "tools/process/process_end.h"
#include "tuner/compare/comparison.h"
#include "tuner/guard.h"
#include "tuner/policy/policies.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"
#include "tuner/world/rate_bound.h"
#include "tuner/world/world_simulator.h"

namespace forebay {
namespace {

using tuner::PipelineModel;

constexpr std::uint64_t kPipelines = 4;  // random ones of 9 stages on 128 CPUs, in each round
constexpr double kSimulatedSeconds = 120;
constexpr double kSimulatorLimit = 2e6;
constexpr double kSharedLimit = 3e5;
constexpr double kNodesLimit = 5e4;
constexpr double kDecisionLimit = 1e-3;
constexpr double kShareLimit = 0.01;
constexpr double kStepsPerSecond = 10;
constexpr int kRepeats = 1000;

/// Makes the largest pipelines: the cost of a decision grows with stages and CPUs.
PipelineModel large_pipeline(std::uint64_t seed) {
  tuner::RandomPipelineOptions options;
  options.fewest_stages = 9;
  options.most_stages = 9;
  options.fewest_cpus = 128;
  options.most_cpus = 128;
  return tuner::random_pipeline(seed, options);
}

double simulator_speed(const std::vector<PipelineModel>& models) {
  std::uint64_t steps = 0;
  double used = 0;
  for (const PipelineModel& model : models) {
    tuner::Simulator simulator(model, 1);
    simulator.apply({tuner::oracle_of(model).allocation.actors, 1});
    const double before = in_seconds(thread_cpu_time());
    simulator.run_until(kSimulatedSeconds);
    used += in_seconds(thread_cpu_time()) - before;
    steps += simulator.totals().steps;
  }
  return static_cast<double>(steps) / used;
}

/// Six stages of which each uses three resources, all of them scarce, on `nodes` unequal nodes.
PipelineModel world_of(std::size_t nodes) {
  tuner::RandomPipelineOptions options;
  options.fewest_stages = options.most_stages = 6;
  options.rate_limited = options.memory_tight = options.trainer_bound = 0;
  PipelineModel world = tuner::random_pipeline(1, options);
  world.trainer_step_seconds = 1e-4;
  for (std::size_t k = 0; k < nodes; ++k) {
    world.nodes.push_back({.name = "n" + std::to_string(k),
                           .cpus = 8.0 + 4.0 * static_cast<double>(k % 3),
                           .memory_bytes = std::uint64_t{1} << 40U,
                           .link_rate = 1e9,
                           .trainer = k == 0});
  }
  // Nine tenths of what the CPUs allow: six stages use each of them.
  const double rate = 0.9 * 6 * tuner::rate_bound(world);
  world.resources = {{.name = "dram", .rate = rate},
                     {.name = "disk", .rate = rate},
                     {.name = "nfs", .rate = rate}};
  for (tuner::StageModel& stage : world.stages) {
    for (const tuner::ResourceModel& each : world.resources) stage.uses.push_back({each.name, 1});
  }
  return world;
}

double world_speed(const PipelineModel& world) {
  constexpr double kSplits = 3000;
  tuner::WorldSimulator simulator(world, 1);
  tuner::Allocation allocation = tuner::one_each(simulator.description());
  for (std::uint32_t& actors : allocation.actors) actors = 4;
  simulator.apply(allocation);
  const double before = in_seconds(thread_cpu_time());
  simulator.run_until(kSplits / tuner::rate_bound(world));
  return static_cast<double>(simulator.totals().steps) / (in_seconds(thread_cpu_time()) - before);
}

double decision_seconds(const std::vector<PipelineModel>& models, const std::string& policy) {
  double sum = 0;
  for (const PipelineModel& model : models) {
    const auto run = tuner::run_one({.model = model, .policy = policy}, tuner::simulated_machines(),
                                    StopRequest::requested);
    sum += run.record.seconds_per_decision;
  }
  return sum / static_cast<double>(models.size());
}

/// Uses a goal that is never reached, so that every guard step has work to do.
double guard_seconds(const PipelineModel& model) {
  tuner::Simulator simulator(model, 1);
  tuner::Guard guard(simulator.description());
  const tuner::CurrentState current = simulator.current();
  guard.admit(tuner::oracle_of(model).allocation, current);
  const double before = in_seconds(thread_cpu_time());
  std::uint64_t allowed = 0;
  for (int i = 0; i < kRepeats; ++i) allowed += guard.step(current).total_actors();
  const double used = in_seconds(thread_cpu_time()) - before;
  return allowed > 0 ? used / kRepeats : 0;
}

double plan_seconds(const std::vector<PipelineModel>& models) {
  const double before = in_seconds(thread_cpu_time());
  double found = 0;
  constexpr int kPlans = 20;
  for (int i = 0; i < kPlans; ++i) {
    for (const PipelineModel& model : models) found += tuner::oracle_of(model).splits_per_second;
  }
  const double used = in_seconds(thread_cpu_time()) - before;
  return found > 0 ? used / (kPlans * static_cast<double>(models.size())) : 0;
}

}  // namespace

BenchResults bench_tuner(const BenchOptions& options) {
  const bool known = std::ranges::count(tuner::policies(), "intune", &tuner::PolicyInfo::name) > 0;
  const std::string policy = known ? "intune" : "greedy";
  std::vector<PipelineModel> models;
  for (std::uint64_t seed = 1; seed <= kPipelines; ++seed) models.push_back(large_pipeline(seed));
  Measurements all;
  auto measured = each_round(options.rounds, [&]() -> Status {
    all.add("steps", simulator_speed(models));
    all.add("shared", world_speed(world_of(1)));
    all.add("nodes", world_speed(world_of(16)));
    all.add("decision", decision_seconds(models, policy));
    all.add("guard", guard_seconds(models.front()));
    all.add("plan", plan_seconds(models));
    return {};
  });
  if (!measured) return pass(measured);
  const double share = all["decision"] / tuner::kPeriodSeconds + all["guard"] * kStepsPerSecond;
  return std::vector<BenchResult>{
      BenchResult::over("simulator_steps", all["steps"], "steps/s", kSimulatorLimit),
      BenchResult::over("simulator_steps_shared", all["shared"], "steps/s", kSharedLimit),
      BenchResult::over("simulator_steps_nodes", all["nodes"], "steps/s", kNodesLimit),
      BenchResult::under("decision", all["decision"], "s", kDecisionLimit),
      BenchResult::under("tuner_cpu", share, "cores", kShareLimit),
      {"guard_step", all["guard"], "s"},
      {"plan", all["plan"], "s"}};
}

}  // namespace forebay
