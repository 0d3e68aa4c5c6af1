#include "tuner/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/check.h"
#include "core/base/thread/parallel.h"
#include "core/base/thread/shared_count.h"
#include "tuner/compare/world_run.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kDecisions = 60;
constexpr double kSecondsAfterEvents = 300;

/// `now` returns the time for the oracle; other policies do not call it.
PolicyContext context_of(const RunRequest& request, std::function<double()> now) {
  const PipelineModel start = model_at(request.model, 0);
  PolicyContext context;
  context.description = description_of(request.model);
  context.limits = {.cpus = start.cpus, .memory_bytes = start.memory_bytes};
  context.seed = request.seed;
  context.weights = request.weights;
  context.truth = [&model = request.model, now = std::move(now)] {
    const PipelineModel current = model_at(model, now());
    return Truth{.costs = costs_of(current), .trainer_rate = trainer_rate_of(current)};
  };
  return context;
}

std::vector<OracleStretch> oracle_line(const PipelineModel& model,
                                       const std::vector<double>& moments) {
  std::vector<OracleStretch> line;
  const auto add = [&](double seconds) {
    const PipelineModel current = model_at(model, seconds);
    const Plan best = oracle_of(current);
    line.push_back({.from_seconds = seconds,
                    .splits_per_second = best.splits_per_second,
                    .actors = best.allocation.total_actors(),
                    .memory_bytes = current.memory_bytes});
  };
  if (moments.empty() || moments.front() > 0) add(0);
  for (const double moment : moments) add(moment);
  return line;
}

std::unique_ptr<Policy> fallback_for(const PolicyContext& context) {
  auto made = make_policy("intune:no-network", context);
  return made ? std::move(*made) : nullptr;
}

RunRequest request_of(const ComparisonOptions& options, std::size_t number) {
  const std::size_t per_policy = options.seeds;
  const std::size_t per_pipeline = per_policy * options.policies.size();
  return {.model = options.pipelines[number / per_pipeline],
          .policy = options.policies[number % per_pipeline / per_policy],
          .seed = number % per_policy + 1,
          .decisions = options.decisions,
          .weights = options.weights,
          .find_best = options.find_best};
}

bool wants_stop(const ComparisonOptions& options) { return options.stopped && options.stopped(); }

/// The yardstick of each world, by pipeline, made once for all its runs.
std::vector<std::vector<OracleSpan>> world_lines(const ComparisonOptions& options) {
  std::vector<std::vector<OracleSpan>> lines(options.pipelines.size());
  for (std::size_t i = 0; i < lines.size() && !wants_stop(options); ++i) {
    const RunRequest any = request_of(options, i * options.seeds * options.policies.size());
    if (is_world(any.model)) lines[i] = world_line(any);
  }
  return lines;
}

}  // namespace

bool is_guarded(const std::string& policy) {
  const auto known = policies();
  const auto found = std::ranges::find(known, policy, &PolicyInfo::name);
  return found == known.end() || found->guarded_when_modelled;
}

std::vector<double> moments_of(const PipelineModel& model) {
  std::vector<double> moments;
  for (const ModelEvent& event : model.events) moments.push_back(event.at_seconds);
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

std::uint64_t decisions_for(const PipelineModel& model) {
  const std::vector<double> moments = moments_of(model);
  if (moments.empty()) return kDecisions;
  double last = moments.back();
  for (const ModelEvent& event : model.events) {
    last = std::max(last, event.at_seconds + event.over_seconds);
  }
  const double periods = std::ceil((last + kSecondsAfterEvents) / kPeriodSeconds);
  return std::max(kDecisions, static_cast<std::uint64_t>(periods));
}

Status check_run(const RunRequest& request) {
  if (is_world(request.model)) return check_world_run(request);
  auto made = make_policy(request.policy, context_of(request, [] { return 0.0; }));
  if (!made) return pass(made);
  return {};
}

ComparedRun run_one(const RunRequest& request, const MachineMaker& make_machine,
                    const std::function<bool()>& stopped) {
  if (is_world(request.model)) {
    return *run_world(request, world_line(request), simulated_worlds(), stopped);
  }
  const auto machine = make_machine(request.model, request.seed);
  const auto context = context_of(request, [&] { return machine->totals().seconds; });
  auto policy = make_policy(request.policy, context);
  FOREBAY_CHECK(policy.has_value());
  ComparedRun run;
  run.pipeline = request.model.name;
  run.policy = request.policy;
  run.seed = request.seed;
  run.decisions = request.decisions.value_or(decisions_for(request.model));
  const PipelineModel start = model_at(request.model, 0);
  run.bottleneck_share = bottleneck_share(start);
  run.memory_limit = start.memory_bytes;
  run.record = drive(*machine, std::move(*policy),
                     {.decisions = run.decisions,
                      .guarded = is_guarded(request.policy),
                      .fallback = fallback_for(context),
                      .stopped = stopped});
  Trace& trace = run.record.trace;
  trace.events = moments_of(request.model);
  trace.oracle = oracle_line(request.model, trace.events);
  run.out_of_memory = trace.out_of_memory;
  run.figures = figures_of(trace);
  run.shortfall = shortfall_of(trace);
  return run;
}

std::uint64_t runs_of(const ComparisonOptions& options) {
  return options.pipelines.size() * options.policies.size() * options.seeds;
}

Status check_comparison(const ComparisonOptions& options) {
  for (std::size_t number = 0; number < runs_of(options); number += options.seeds) {
    if (auto checked = check_run(request_of(options, number)); !checked) return checked;
  }
  return {};
}

Result<std::vector<ComparedRun>> compare(const ComparisonOptions& options) {
  std::vector<std::optional<Result<ComparedRun>>> runs(runs_of(options));
  const std::vector<std::vector<OracleSpan>> lines = world_lines(options);
  SharedCount done;
  SharedCount failed;
  const auto stopped = [&] { return wants_stop(options) || failed.get() > 0; };
  for_each_in_parallel(runs.size(), options.threads, [&](std::size_t number) {
    if (stopped()) return;
    const RunRequest request = request_of(options, number);
    const auto& line = lines[number / (options.seeds * options.policies.size())];
    auto run = line.empty() ? Result<ComparedRun>(run_one(request, options.make_machine, stopped))
                            : run_world(request, line, options.make_world, stopped);
    if (!run) {
      failed.add(1);
      run.error().message = request.model.name + ": " + run.error().message;
    } else if (run->record.stopped) {
      return;
    } else if (!options.keep_periods) {
      run->record.trace = {};
    }
    runs[number] = std::move(run);
    const std::uint64_t count = done.add(1);
    if (options.progress) options.progress(count);
  });
  std::vector<ComparedRun> complete;
  for (auto& run : runs) {
    if (!run) continue;
    if (!*run) return pass(*run);
    complete.push_back(std::move(**run));
  }
  return complete;
}

}  // namespace forebay::tuner
