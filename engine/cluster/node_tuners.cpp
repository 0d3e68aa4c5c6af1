#include "engine/cluster/node_tuners.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <utility>

#include "actors/stage_list.h"
#include "engine/cluster/node_logs.h"
#include "tuner/cuts/learned_misfit.h"
#include "tuner/tuner.h"

namespace forebay {
namespace {

/// Most nodes that are remembered; more names than that are a mistake.
constexpr std::size_t kMostNodes = 4096;
/// Learned state is saved after every so many decisions.
constexpr std::uint64_t kKeptEvery = 5;
/// A policy with so many faults in a row is not asked for that node again.
constexpr int kMostFaults = 3;
/// The model's plan alone; reads no weights file.
constexpr const char* kFallback = "intune:no-network";

bool sound(const AskDecision& ask) {
  return tuner::can_be_planned(ask.description, ask.limits) &&
         ask.description.stages.size() <= kMostStages &&
         ask.seen.stages.size() == ask.description.stages.size() &&
         ask.description.max_prefetch > 0;
}

}  // namespace

std::string kind_of(const tuner::PipelineDescription& description, const tuner::Limits& limits) {
  return std::to_string(std::lround(limits.cpus)) + "-cpus-" +
         std::to_string(description.max_actors) + "-actors";
}

Result<NodeTuners::Node*> NodeTuners::node_of(const AskDecision& ask,
                                              std::chrono::nanoseconds now) {
  const auto found = nodes_.find(ask.node);
  if (found != nodes_.end() && tuner::same_machine(found->second.description, ask.description)) {
    found->second.heard = now;
    return &found->second;
  }
  std::erase_if(nodes_, [&](const auto& one) { return now - one.second.heard > kForgottenAfter; });
  if (nodes_.size() >= kMostNodes) return fail(Code::kOverloaded, "too many nodes to tune");
  auto node = make_node(ask);
  if (!node) return pass(node);
  node->heard = now;
  return &nodes_.insert_or_assign(ask.node, std::move(*node)).first->second;
}

tuner::PolicyContext NodeTuners::context_of(const AskDecision& ask) const {
  tuner::PolicyContext context;
  context.description = ask.description;
  context.limits = ask.limits;
  context.seed = options_.job.order.seed;
  context.fixed = tuner::one_each(ask.description);
  context.reward = tuner::reward_mode(options_.job.tuner.reward);
  return context;
}

Result<NodeTuners::Node> NodeTuners::make_node(const AskDecision& ask) {
  auto policy = options_.make(options_.job.tuner.policy, context_of(ask));
  if (!policy) return pass(policy);
  Node node;
  node.description = ask.description;
  node.kind = kind_of(ask.description, ask.limits);
  node.policy = std::move(*policy);
  const std::string restored = restore(*node.policy, ask, node.kind);
  open_log(node, ask, restored);
  return node;
}

// A learned state that does not fit this machine's pipeline is not restored.
std::string NodeTuners::restore(tuner::Policy& policy, const AskDecision& ask,
                                const std::string& kind) {
  const auto [found, fresh] = learned_.try_emplace(kind);
  if (fresh && options_.find) found->second.state = options_.find(kind);
  const std::string& state = found->second.state;
  if (state.empty()) return {};
  try {
    if (policy.restore(state)) return state;
  } catch (const std::exception&) {  // The note below says enough.
  }
  options_.note("the tuner of " + ask.node + " learns anew: what was learned before " +
                tuner::describe_misfit(state, ask.description));
  return {};
}

void NodeTuners::open_log(Node& node, const AskDecision& ask, const std::string& restored) {
  if (auto kept = keep_node_log(options_.job.run.dir, ask.node, logs_[ask.node]++); !kept) {
    return options_.note("decisions for " + ask.node +
                         " are not logged: the log before cannot be kept: " + kept.error().message);
  }
  auto log = tuner::DecisionLogWriter::create(
      node_log_path(options_.job.run.dir, ask.node),
      {.policy = central_ ? std::string(kCentralTuner) : std::string(node.policy->name()),
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

// A policy that fails with one node's observations is overruled there, and asked for the others.
tuner::Proposal NodeTuners::ask_policy(Node& node, const AskDecision& ask) {
  const std::string name(node.policy->name());
  node.fault.clear();
  if (node.faults < kMostFaults) {
    tuner::Proposal proposal =
        tuner::ask_safely(*node.policy, ask.description, ask.seen, node.fault);
    if (node.fault.empty()) {
      node.faults = 0;
      return proposal;
    }
    node.fault = name + " " + node.fault;
    ++node.faults;
    options_.note("the tuner of " + ask.node + ": " + node.fault + "; the model decides there" +
                  (node.faults == kMostFaults ? " from now on" : ""));
  } else {
    node.fault = name + " is not asked after " + std::to_string(kMostFaults) + " faults in a row";
  }
  return ask_fallback(node, ask);
}

tuner::Proposal NodeTuners::ask_fallback(Node& node, const AskDecision& ask) {
  if (!node.fallback) {
    auto made = tuner::make_policy(kFallback, context_of(ask));
    if (made) node.fallback = std::move(*made);
  }
  std::string fault = "none given";
  tuner::Proposal proposal;
  if (node.fallback) proposal = tuner::ask_safely(*node.fallback, ask.description, ask.seen, fault);
  if (fault.empty()) return proposal;
  node.fault += "; fallback: " + fault;
  return {ask.seen.allocation(), 0, "keeps what stands"};
}

Advised NodeTuners::decide(Node& node, const AskDecision& ask, std::chrono::nanoseconds now) {
  if (!central_) return {.proposal = ask_policy(node, ask)};
  try {
    node.fault.clear();
    return central_->advise(ask, now);
  } catch (const std::exception& thrown) {
    node.fault = std::string("central threw: ") + thrown.what();
    if (std::exchange(node.noted, node.fault) != node.fault) {
      options_.note("the tuner of " + ask.node + ": " + node.fault + "; the model decides there");
    }
    return {.proposal = ask_fallback(node, ask)};
  }
}

Result<Advised> NodeTuners::on(const AskDecision& ask, Context& context) {
  if (!sound(ask)) return fail(Code::kInvalid, "that is no observation of a pipeline");
  try {
    const auto now = context.clock().now();
    auto node = node_of(ask, now);
    if (!node) return pass(node);
    return decide(**node, ask, now);
  } catch (const std::exception& thrown) {  // Its policy cannot be made; other nodes have theirs.
    return fail(Code::kInvalid, "the tuner of " + ask.node + " cannot begin: " + thrown.what());
  }
}

Status NodeTuners::on(const TrainerSeen& seen, Context&) {
  if (central_) central_->observe(seen);
  return {};
}

// Of nodes of one kind, the one that has decided most often in this run has learned most.
void NodeTuners::keep_learned(const Node& node, std::uint64_t decisions) {
  Learned& learned = learned_[node.kind];
  if (decisions < learned.decisions) return;
  std::string state;
  try {
    state = node.policy->learned_state();
  } catch (const std::exception&) {
    return;
  }
  if (state.empty()) return;
  learned = {.state = std::move(state), .decisions = decisions};
  if (options_.keep) options_.keep(node.kind, learned.state);
}

Status NodeTuners::on(const DecisionTaken& taken, Context&) {
  const auto found = nodes_.find(taken.node);
  if (found == nodes_.end()) return {};
  Node& node = found->second;
  if (!tuner::misfit(taken.decision, node.description).empty()) return {};
  if (!central_ && taken.decision.number % kKeptEvery == 0) {
    keep_learned(node, taken.decision.number);
  }
  if (!node.log || node.log_failed) return {};
  tuner::Decision decision = taken.decision;
  if (!node.fault.empty() && decision.fault.empty()) {
    decision.policy = "fallback";
    decision.fault = node.fault;
  }
  if (auto status = node.log->add(decision); !status) {
    node.log_failed = true;
    options_.note("decisions for " + taken.node +
                  " are not logged any more: " + status.error().message);
  }
  return {};
}

}  // namespace forebay
