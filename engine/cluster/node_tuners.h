#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "core/runtime/actor.h"
#include "engine/cluster/tuner_messages.h"
#include "engine/job/job_spec.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy.h"

namespace forebay {

/// The tuners of all workers: one policy for each node, which sees that node's observations.
///
/// The guard runs on the node that it guards. The policy's decisions are made, logged
/// (`.forebay/decisions-NODE.jsonl`) and shown here. A worker that joins again keeps its policy and
/// learned state, unless its machine has changed.
class NodeTuners final : public ActorOf<NodeTuners, AskDecision, DecisionTaken> {
 public:
  struct Options {
    const JobSpec& job;
    std::string command;                           ///< For the log: `train`, `ingest`.
    std::function<void(const std::string&)> note;  ///< Reports a message to the user.
    /// Learned state of an earlier run, for every node; "": no earlier run.
    std::string learned_state = {};
    /// Called now and then with the learned state of a node's policy, to save it for the next run.
    std::function<void(const std::string& learned_state)> keep = {};
  };

  explicit NodeTuners(Options options) : options_(std::move(options)) {}

  Result<tuner::Proposal> on(const AskDecision& ask, Context&);
  Status on(const DecisionTaken& taken, Context&);

 private:
  struct Node {
    tuner::PipelineDescription description;
    std::unique_ptr<tuner::Policy> policy;
    std::optional<tuner::DecisionLogWriter> log;
    bool log_failed = false;
  };

  Result<Node*> node_of(const AskDecision& ask);
  void open_log(Node& node, const AskDecision& ask, const std::string& restored);

  const Options options_;
  std::map<std::string, Node> nodes_;
};

/// Returns the path of the decision log of a node.
std::string node_log_path(const std::string& run_dir, const std::string& node);

}  // namespace forebay
