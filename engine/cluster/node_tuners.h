#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/runtime/actor.h"
#include "engine/cluster/central_tuner.h"
#include "engine/cluster/tuner_messages.h"
#include "engine/job/job_spec.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy.h"
#include "tuner/policy/policies.h"

namespace forebay {

/// The tuners of all workers: one policy for each node, which sees that node's observations.
///
/// The guard runs on the node that it guards. The policy's decisions are made, logged
/// (`.forebay/decisions-NODE.jsonl`) and shown here. A worker that joins again keeps its policy and
/// learned state, unless its machine has changed: then it begins a new log, too, and the one before
/// becomes `decisions-NODE+1.jsonl`. What is learned is kept for each kind of node,
/// and a node that joins later begins with it. A node that is silent for kForgottenAfter is
/// forgotten: workers that are started again and again have new names. A policy that fails with one
/// node's observations is overruled for this node alone: the model's plan decides there, and after
/// three faults in a row the policy is not asked for it again. With a central tuner one decision is
/// made for all nodes, and these policies are not asked.
class NodeTuners final : public ActorOf<NodeTuners, AskDecision, DecisionTaken, TrainerSeen> {
 public:
  static constexpr std::chrono::hours kForgottenAfter{1};

  struct Options {
    const JobSpec& job;
    std::string command;                           ///< For the log: `train`, `ingest`.
    std::function<void(const std::string&)> note;  ///< Reports a message to the user.
    /// Returns what an earlier run of the same work learned on nodes of this kind; "": nothing.
    std::function<std::string(const std::string& kind)> find = {};
    /// Called now and then with the learned state of nodes of a kind, to save it for the next run.
    std::function<void(const std::string& kind, const std::string& learned_state)> keep = {};
    /// Makes the policy of a node.
    std::function<Result<std::unique_ptr<tuner::Policy>>(std::string_view name,
                                                         const tuner::PolicyContext& context)>
        make = tuner::make_policy;
    /// Set: one decision for all nodes (`tuner.policy = "central"`).
    std::optional<CentralTuner::Options> central = {};
  };

  explicit NodeTuners(Options options) : options_(std::move(options)) {
    if (options_.central) central_.emplace(*options_.central);
  }

  Result<Advised> on(const AskDecision& ask, Context& context);
  Status on(const DecisionTaken& taken, Context&);
  Status on(const TrainerSeen& seen, Context&);

 private:
  struct Node {
    tuner::PipelineDescription description;
    std::string kind;
    std::unique_ptr<tuner::Policy> policy;
    std::unique_ptr<tuner::Policy> fallback;  // null until it is needed
    int faults = 0;                           // of the policy, in a row
    std::string fault;                        // in the last decision; empty: none
    std::string noted;                        // the last fault of the central tuner that was said
    std::optional<tuner::DecisionLogWriter> log;
    bool log_failed = false;
    std::chrono::nanoseconds heard{0};  // last
  };
  /// The learned state of a kind of nodes: that of the node with the most decisions in this run.
  struct Learned {
    std::string state;
    std::uint64_t decisions = 0;
  };

  Result<Node*> node_of(const AskDecision& ask, std::chrono::nanoseconds now);
  Result<Node> make_node(const AskDecision& ask);
  tuner::PolicyContext context_of(const AskDecision& ask) const;
  std::string restore(tuner::Policy& policy, const AskDecision& ask, const std::string& kind);
  Advised decide(Node& node, const AskDecision& ask, std::chrono::nanoseconds now);
  tuner::Proposal ask_policy(Node& node, const AskDecision& ask);
  tuner::Proposal ask_fallback(Node& node, const AskDecision& ask);
  void keep_learned(const Node& node, std::uint64_t decisions);
  void open_log(Node& node, const AskDecision& ask, const std::string& restored);

  const Options options_;
  std::optional<CentralTuner> central_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Learned> learned_;     // by kind
  std::map<std::string, std::uint32_t> logs_;  // begun, by node; also of those that are forgotten
};

/// Names the kind of a node: its CPUs, and the actors that it may have. The learned state of a node
/// fits others of its kind.
std::string kind_of(const tuner::PipelineDescription& description, const tuner::Limits& limits);

}  // namespace forebay
