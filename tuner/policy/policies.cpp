#include "tuner/policy/policies.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/base/text/nearest.h"
#include "tuner/agent/intune.h"
#include "tuner/cuts/cut_policy.h"
#include "tuner/paper/paper_agent.h"
#include "tuner/policy/adaptive.h"
#include "tuner/policy/autotune.h"
#include "tuner/policy/fixed.h"

namespace forebay::tuner {
namespace {

using Made = Result<std::unique_ptr<Policy>>;

class NamedPolicy final : public Policy {
 public:
  NamedPolicy(std::string_view name, Decide decide) : name_(name), decide_(std::move(decide)) {}

  std::string_view name() const override { return name_; }
  Proposal decide(const Observation& seen) override { return decide_(seen); }

 private:
  std::string_view name_;
  Decide decide_;
};

template <Decide (*make)(const PolicyContext&)>
Made named(std::string_view name, const PolicyContext& context) {
  return std::make_unique<NamedPolicy>(name, make(context));
}

template <Ablation ablation>
Made agent(std::string_view, const PolicyContext& context) {
  return Intune::make({.description = context.description,
                       .reward = context.reward,
                       .ablation = ablation,
                       .seed = context.seed,
                       .weights = context.weights});
}

Made paper(std::string_view, const PolicyContext& context) {
  return PaperAgent::make(context.description, context.seed);
}

/// The model's plan under another name: what the central tuner is on one node.
class AloneOnItsNode final : public Policy {
 public:
  AloneOnItsNode(std::string_view name, std::unique_ptr<Policy> plan)
      : name_(name), plan_(std::move(plan)) {}

  std::string_view name() const override { return name_; }
  Proposal decide(const Observation& seen) override { return plan_->decide(seen); }
  std::string learned_state() const override { return plan_->learned_state(); }
  bool restore(std::string_view state) override { return plan_->restore(state); }

 private:
  std::string_view name_;
  std::unique_ptr<Policy> plan_;
};

Made central(std::string_view name, const PolicyContext& context) {
  auto plan = agent<Ablation::kNetwork>(name, context);
  if (!plan) return plan;
  return std::make_unique<AloneOnItsNode>(name, std::move(*plan));
}

constexpr const char* kInTune = "InTune (Nagrecha et al., RecSys 2023) and DESIGN.md";
constexpr const char* kAblation = "an ablation of intune";

constexpr PolicyInfo kPolicies[] = {
    {"intune", "the agent: a fitted model, a network around its plan, live learning", kInTune, true,
     agent<Ablation::kNone>},
    {"central", "one decision for all nodes of a cluster; on one node, the model's plan",
     "design/central_tuner.md", true, central},
    {"intune-paper", "the agent as published: a network that steps from what stands, no planner",
     "InTune (Nagrecha et al., RecSys 2023); tuner/paper/README.md", true, paper},
    {"static", "the job file's allocation, never changed", "a fixed setting", true,
     named<make_static>},
    {"one", "one actor a stage", "where every tuner starts", true, named<make_one>},
    {"even", "the CPUs shared evenly among the stages",
     "InTune's heuristic baseline (Nagrecha et al., RecSys 2023)", false, named<make_even>},
    {"proportional", "the CPUs in proportion to the stages' work, profiled once",
     "a person's guess from a profile", false, named<make_proportional>},
    {"greedy", "the next actor to the slowest stage, from measured rates, while it helps",
     "water-filling; optimal where stages scale linearly", true, named<make_greedy>},
    {"autotune", "hill climb on a latency model, prefetch doubled, blind to memory",
     "tf.data AUTOTUNE of 2022, HILL_CLIMB (tensorflow model.cc, prefetch_autotuner.cc)", false,
     named<make_autotune>},
    {"autotune-budget", "the next actor to the slowest stage until the trainer is fed",
     "tf.data AUTOTUNE of today, STAGE_BASED with CPU and RAM budgets (tensorflow model.cc)", true,
     named<make_autotune_budget>},
    {"plumber", "the linear program over measured CPU time", "Plumber (Kuchnik et al., MLSys 2022)",
     true, named<make_plumber>},
    {"threshold", "more actors above 0.8 busy, fewer below 0.5",
     "Ray Data's autoscaler of actor pools (arXiv 2501.12407)", false, named<make_threshold>},
    {"max", "as many actors as CPUs in every stage", "over-subscription, left to the kernel", false,
     named<make_max>},
    {"oracle", "the best allocation for the true costs; simulated and emulated only",
     "the best fixed allocation (tuner/plan)", true, named<make_oracle>},
    {"intune:no-network", "the model's plan alone", kAblation, true, agent<Ablation::kNetwork>},
    {"intune:no-model", "the network alone, stepping from what stands", kAblation, true,
     agent<Ablation::kModel>},
    {"intune:no-pretraining", "the network learns from nothing", kAblation, true,
     agent<Ablation::kPretraining>},
    {"intune:no-online", "the network as shipped", kAblation, true, agent<Ablation::kOnline>},
    {"intune:no-gate", "the network asked always, even where the model explains the rate",
     kAblation, true, agent<Ablation::kGate>},
    {"intune:no-exploration", "without directed exploration", kAblation, true,
     agent<Ablation::kExploration>},
};

std::string nearest(std::string_view name) {
  const auto further = [&](const PolicyInfo& a, const PolicyInfo& b) {
    return edit_distance(name, a.name) < edit_distance(name, b.name);
  };
  return std::string(std::ranges::min_element(kPolicies, further)->name);
}

Status complete(std::string_view name, const PolicyContext& context) {
  if (context.description.stages.empty()) {
    return fail(Code::kInvalid, "a pipeline without stages has nothing to tune");
  }
  const std::size_t given = context.fixed.actors.size();
  if (name == "static" && given != 0 && given != context.description.stages.size()) {
    return fail(Code::kInvalid, "policy static: an allocation of " + std::to_string(given) +
                                    " stages for a pipeline of " +
                                    std::to_string(context.description.stages.size()));
  }
  if (name == "oracle" && !context.truth) {
    return fail(Code::kInvalid,
                "policy oracle needs to know the true costs: simulated and emulated machines only");
  }
  return {};
}

}  // namespace

std::span<const PolicyInfo> policies() { return kPolicies; }

Result<std::unique_ptr<Policy>> make_policy(std::string_view name, const PolicyContext& context) {
  const auto* const found = std::ranges::find(kPolicies, name, &PolicyInfo::name);
  if (found == std::end(kPolicies)) {
    return fail(Code::kInvalid, "no policy is called '" + std::string(name) +
                                    "'; the nearest is '" + nearest(name) +
                                    "'; see forebay tune --policies");
  }
  if (Status ready = complete(name, context); !ready) return pass(ready);
  const auto joins = [](const StageDescription& stage) { return stage.least_actors == 0; };
  if (std::ranges::none_of(context.description.stages, joins)) {
    return found->make(found->name, context);
  }
  return CutPolicy::make(context.description, [found, context](const PipelineDescription& groups) {
    PolicyContext of_groups = context;
    of_groups.description = groups;
    of_groups.fixed = {};
    return found->make(found->name, of_groups);
  });
}

}  // namespace forebay::tuner
