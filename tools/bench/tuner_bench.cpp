#include "tools/bench/tuner_bench.h"

#include <utility>

#include "core/base/cpu_time.h"
#include "core/base/median.h"
#include "core/base/seconds.h"
#include "tuner/compare/comparison.h"
#include "tuner/guard.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/sim/random_pipeline.h"
#include "tuner/sim/simulator.h"

namespace forebay {
namespace {

using tuner::PipelineModel;

constexpr double kSimulatorLimit = 2e6;
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

/// The figures of each round, of which medians are taken.
struct Measured {
  std::vector<double> steps_per_second;
  std::vector<double> decision;
  std::vector<double> guard_step;
  std::vector<double> plan;
};

double simulator_speed(const std::vector<PipelineModel>& models, double seconds) {
  std::uint64_t steps = 0;
  double used = 0;
  for (const PipelineModel& model : models) {
    tuner::Simulator simulator(model, 1);
    simulator.apply({tuner::oracle_of(model).allocation.actors, 1});
    const double before = in_seconds(thread_cpu_time());
    simulator.run_until(seconds);
    used += in_seconds(thread_cpu_time()) - before;
    steps += simulator.totals().steps;
  }
  return static_cast<double>(steps) / used;
}

double decision_seconds(const std::vector<PipelineModel>& models,
                        const TunerBenchOptions& options) {
  double sum = 0;
  for (const PipelineModel& model : models) {
    const auto run = tuner::run_one({.model = model, .policy = options.policy},
                                    tuner::simulated_machines(), options.stopped);
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

BenchResult slower_is_worse(std::string name, double value, std::string unit, double limit) {
  return {std::move(name), value, std::move(unit), limit, value > 0 ? limit / value : 0};
}

std::vector<BenchResult> results_of(const Measured& measured) {
  const double steps = median(measured.steps_per_second);
  const double decision = median(measured.decision);
  const double guard = median(measured.guard_step);
  const double share = decision / tuner::kPeriodSeconds + guard * kStepsPerSecond;
  return {{"simulator_steps", steps, "steps/s", kSimulatorLimit, steps / kSimulatorLimit},
          slower_is_worse("decision", decision, "s", kDecisionLimit),
          slower_is_worse("tuner_cpu", share, "cores", kShareLimit),
          {"guard_step", guard, "s", std::nullopt, std::nullopt},
          {"plan", median(measured.plan), "s", std::nullopt, std::nullopt}};
}

}  // namespace

Result<std::vector<BenchResult>> bench_tuner(const TunerBenchOptions& options) {
  std::vector<PipelineModel> models;
  for (std::uint64_t seed = 1; seed <= options.pipelines; ++seed) {
    models.push_back(large_pipeline(seed));
  }
  if (auto known = tuner::check_run({.model = models.front(), .policy = options.policy}); !known) {
    return pass(known);
  }
  const auto stopped = [&options] { return options.stopped && options.stopped(); };
  Measured measured;
  for (int round = 0; round < options.rounds && !stopped(); ++round) {
    measured.steps_per_second.push_back(simulator_speed(models, options.simulated_seconds));
    measured.decision.push_back(decision_seconds(models, options));
    measured.guard_step.push_back(guard_seconds(models.front()));
    measured.plan.push_back(plan_seconds(models));
  }
  if (stopped()) return fail(Code::kUnavailable, "stopped");
  return results_of(measured);
}

}  // namespace forebay
