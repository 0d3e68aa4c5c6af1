#include "tuner/compare/world_run.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "core/base/check.h"
#include "core/base/random.h"
#include "tuner/compare/central_run.h"
#include "tuner/world/node_pipeline.h"
#include "tuner/world/world_layout.h"

namespace forebay::tuner {
namespace {

constexpr std::size_t kFinalPeriods = 10;

/// Sets a node's part of the best known allocation of the moment.
class BestKnownPolicy final : public Policy {
 public:
  BestKnownPolicy(const PipelineModel& model, const std::vector<OracleSpan>& line, std::size_t node)
      : model_(model), line_(line), node_(node) {}

  std::string_view name() const override { return "oracle"; }
  Proposal decide(const Observation& seen) override {
    const auto later = std::ranges::upper_bound(line_.begin() + 1, line_.end(), seen.at_seconds, {},
                                                &OracleSpan::from_seconds);
    const BestKnown& best = (later - 1)->best;
    return {.allocation = part_of_node(best.allocation, model_, node_),
            .expected_splits_per_second = best.splits_per_second,
            .reason = "best known"};
  }

 private:
  const PipelineModel& model_;
  const std::vector<OracleSpan>& line_;
  const std::size_t node_;
};

PolicyContext context_of_node(const RunRequest& request, PipelineDescription description,
                              std::size_t k) {
  const PipelineModel start = model_at(request.model, 0);
  const NodeModel node = nodes_of(start)[k];
  PolicyContext context;
  context.description = std::move(description);
  context.limits = {.cpus = node.cpus, .memory_bytes = node.memory_bytes};
  context.seed = k == 0 ? request.seed : mix64(request.seed, k);
  context.weights = request.weights;
  return context;
}

/// What decides for a node where its policy fails.
std::unique_ptr<Policy> fallback_of(const PolicyContext& context) {
  auto plain = make_policy("intune:no-network", context);
  return plain ? std::move(*plain) : nullptr;
}

std::vector<DrivenPart> parts_of(const RunRequest& request, const std::vector<OracleSpan>& line,
                                 ModelledWorld& machine, std::vector<NodePipeline>& nodes) {
  std::vector<DrivenPart> parts;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const PolicyContext context = context_of_node(request, nodes[k].description(), k);
    std::unique_ptr<Policy> policy;
    if (request.policy == "oracle") {
      policy = std::make_unique<BestKnownPolicy>(request.model, line, k);
    } else {
      auto made = make_policy(request.policy, context);
      FOREBAY_CHECK(made.has_value());
      policy = std::move(*made);
    }
    parts.push_back({.pipeline = nodes[k],
                     .policy = std::move(policy),
                     .fallback = fallback_of(context),
                     .present = [&machine, k] { return machine.present(k); }});
  }
  return parts;
}

std::vector<OracleStretch> stretches_of(const PipelineModel& model,
                                        const std::vector<OracleSpan>& line) {
  std::vector<OracleStretch> stretches;
  for (const OracleSpan& span : line) {
    std::uint64_t memory = 0;
    for (const NodeModel& node : nodes_of(model_at(model, span.from_seconds))) {
      memory = std::max(memory, node.memory_bytes);
    }
    stretches.push_back({.from_seconds = span.from_seconds,
                         .splits_per_second = span.best.splits_per_second,
                         .actors = span.best.allocation.total_actors(),
                         .memory_bytes = memory,
                         .growth = span.growth});
  }
  return stretches;
}

std::vector<NodeShare> shares_of(const PipelineModel& model, const ModelledWorld& machine,
                                 const std::vector<Period>& periods) {
  std::vector<NodeShare> shares;
  const double all = std::max(1.0, static_cast<double>(machine.totals().trained));
  const std::size_t counted = std::min(periods.size(), kFinalPeriods);
  for (std::size_t k = 0; k < model.nodes.size(); ++k) {
    const NodeTotals sums = machine.totals_of(k);
    NodeShare share{.name = model.nodes[k].name,
                    .share = static_cast<double>(sums.trained) / all,
                    .memory_peak = sums.memory_peak,
                    .out_of_memory = sums.out_of_memory};
    for (std::size_t i = periods.size() - counted; i < periods.size(); ++i) {
      const Allocation whole{.actors = periods[i].actors};
      const Allocation part = part_of_node(whole, model, k);
      share.actors += static_cast<double>(part.total_actors()) / static_cast<double>(counted);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace

Status check_world_run(const RunRequest& request) {
  if (request.policy == "oracle" || request.policy == kCentralPolicy) return {};
  for (std::size_t k = 0; k < nodes_of(request.model).size(); ++k) {
    auto made = make_policy(request.policy,
                            context_of_node(request, node_description(request.model, k), k));
    if (!made) return pass(made);
  }
  return {};
}

std::vector<OracleSpan> world_line(const RunRequest& request) {
  const std::uint64_t decisions = request.decisions.value_or(decisions_for(request.model));
  const FindBest find = request.find_best ? request.find_best : [](const PipelineModel& steady) {
    return find_best(steady);
  };
  return oracle_line(request.model, kPeriodSeconds * static_cast<double>(decisions), find);
}

Result<ComparedRun> run_world(const RunRequest& request, const std::vector<OracleSpan>& line,
                              const WorldMaker& make, const std::function<bool()>& stopped) {
  const PipelineModel& model = request.model;
  auto made = make(model, request.seed);
  if (!made) return pass(made);
  ModelledWorld& machine = **made;
  std::vector<NodePipeline> nodes;
  for (std::size_t k = 0; k < machine.nodes(); ++k) nodes.emplace_back(machine, k);
  ComparedRun run;
  run.pipeline = model.name;
  run.policy = request.policy;
  run.seed = request.seed;
  run.decisions = request.decisions.value_or(decisions_for(model));
  run.bottleneck_share = bottleneck_share(model_at(model, 0));
  run.best_known = std::ranges::any_of(line, [](const auto& span) { return !span.best.exact; });
  CentralRun central(machine, model);
  const auto make_fallback = [&](std::size_t k) {
    return fallback_of(context_of_node(request, machine.description_of(k), k));
  };
  auto parts = request.policy == kCentralPolicy ? central.parts(make_fallback)
                                                : parts_of(request, line, machine, nodes);
  run.record = drive(machine, std::move(parts),
                     {.decisions = run.decisions,
                      .guarded = is_guarded(request.policy),
                      .fallback = {},
                      .stopped = stopped});
  if (const auto failure = machine.failure()) return tl::unexpected<Error>(*failure);
  if (request.policy == kCentralPolicy) run.fed_workers = central.mean_fed();
  Trace& trace = run.record.trace;
  trace.events = moments_of(model);
  trace.oracle = stretches_of(model, line);
  run.memory_limit = trace.oracle.front().memory_bytes;
  run.nodes = shares_of(model, machine, trace.periods);
  run.out_of_memory = trace.out_of_memory;
  run.figures = figures_of(trace);
  run.shortfall = shortfall_of(trace);
  return run;
}

}  // namespace forebay::tuner
