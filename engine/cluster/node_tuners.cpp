#include "engine/cluster/node_tuners.h"

#include <algorithm>
#include <chrono>

#include "actors/stage_list.h"
#include "tuner/policy/policies.h"

namespace forebay {
namespace {

/// Most nodes that are remembered; more names than that are a mistake.
constexpr std::size_t kMostNodes = 4096;
/// Learned state is saved after every so many decisions.
constexpr std::uint64_t kKeptEvery = 5;

bool same_machine(const tuner::PipelineDescription& a, const tuner::PipelineDescription& b) {
  const auto same = [](const tuner::StageDescription& x, const tuner::StageDescription& y) {
    return x.name == y.name && x.max_actors == y.max_actors;
  };
  return a.max_actors == b.max_actors &&
         std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same);
}

bool sound(const AskDecision& ask) {
  return !ask.description.stages.empty() && ask.description.stages.size() <= kMostStages &&
         ask.seen.stages.size() == ask.description.stages.size() && ask.limits.cpus > 0 &&
         ask.description.max_prefetch > 0;
}

}  // namespace

std::string node_log_path(const std::string& run_dir, const std::string& node) {
  std::string name = node;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char letter) { return std::isalnum(letter) == 0 && letter != '-'; }, '_');
  return run_dir + "/decisions-" + name + ".jsonl";
}

Result<NodeTuners::Node*> NodeTuners::node_of(const AskDecision& ask) {
  const auto found = nodes_.find(ask.node);
  if (found != nodes_.end() && same_machine(found->second.description, ask.description)) {
    return &found->second;
  }
  if (nodes_.size() >= kMostNodes) return fail(Code::kOverloaded, "too many nodes to tune");
  tuner::PolicyContext context;
  context.description = ask.description;
  context.limits = ask.limits;
  context.seed = options_.job.order.seed;
  context.fixed = tuner::one_each(ask.description);
  context.reward = tuner::reward_mode(options_.job.tuner.reward);
  auto policy = tuner::make_policy(options_.job.tuner.policy, context);
  if (!policy) return pass(policy);
  Node node;
  node.description = ask.description;
  node.policy = std::move(*policy);
  // A learned state that does not fit this machine's pipeline is not restored.
  const bool restored =
      !options_.learned_state.empty() && node.policy->restore(options_.learned_state);
  if (!restored && !options_.learned_state.empty()) {
    options_.note(
        "the tuner of " + ask.node +
        " learns anew: what was learned before is of another version, or of other stages");
  }
  open_log(node, ask, restored ? options_.learned_state : "");
  return &nodes_.insert_or_assign(ask.node, std::move(node)).first->second;
}

void NodeTuners::open_log(Node& node, const AskDecision& ask, const std::string& restored) {
  auto log = tuner::DecisionLogWriter::create(node_log_path(options_.job.run.dir, ask.node),
                                              {.policy = std::string(node.policy->name()),
                                               .command = options_.command,
                                               .seed = options_.job.order.seed,
                                               .description = ask.description,
                                               .limits = ask.limits,
                                               .start = tuner::one_each(ask.description),
                                               .weights = "",
                                               .reward = options_.job.tuner.reward,
                                               .restored = restored});
  if (log) {
    node.log = std::move(*log);
  } else {
    options_.note("decisions for " + ask.node + " are not logged: " + log.error().message);
  }
}

Result<tuner::Proposal> NodeTuners::on(const AskDecision& ask, Context&) {
  if (!sound(ask)) return fail(Code::kInvalid, "that is no observation of a pipeline");
  auto node = node_of(ask);
  if (!node) return pass(node);
  return (*node)->policy->decide(ask.seen);
}

Status NodeTuners::on(const DecisionTaken& taken, Context&) {
  const auto found = nodes_.find(taken.node);
  if (found == nodes_.end()) return {};
  Node& node = found->second;
  if (!tuner::misfit(taken.decision, node.description).empty()) return {};
  if (options_.keep && taken.decision.number % kKeptEvery == 0) {
    const std::string learned_state = node.policy->learned_state();
    if (!learned_state.empty()) options_.keep(learned_state);
  }
  if (!node.log || node.log_failed) return {};
  if (auto status = node.log->add(taken.decision); !status) {
    node.log_failed = true;
    options_.note("decisions for " + taken.node +
                  " are not logged any more: " + status.error().message);
  }
  return {};
}

tuner::Proposal CentralPolicy::decide(const tuner::Observation& seen) {
  constexpr std::chrono::seconds kPatience(1);
  if (const TunersRef tuners = tuners_(); tuners.receiver() != nullptr) {
    question_.seen = seen;
    if (auto answer = ask(tuners, AskDecision(question_), kPatience).wait()) {
      return std::move(*answer);
    }
  }
  tuner::Proposal same;
  same.allocation.prefetch = seen.prefetch;
  for (const tuner::StageObservation& stage : seen.stages) {
    same.allocation.actors.push_back(stage.actors);
  }
  same.reason = "the trainer does not answer";
  return same;
}

}  // namespace forebay
