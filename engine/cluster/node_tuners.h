#pragma once

#include <cstdint>
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

/// The tuners of all workers, in one place: for each node a policy that sees what it saw.
///
/// The guard stays with the machine it guards; what a node asks for and gets is decided, logged
/// (`.forebay/decisions-NODE.jsonl`) and shown here. A worker that joins anew keeps its
/// policy and what that has learnt, unless its machine is another.
class NodeTuners final : public ActorOf<NodeTuners, AskDecision, DecisionTaken> {
 public:
  struct Options {
    const JobSpec& job;
    std::string command;  ///< For the log: `train`, `ingest`.
    /// Told each decision: the node, and its decision in words.
    std::function<void(const std::string& node, const std::string& words)> on_decision = {};
    std::function<void(const std::string&)> note;  ///< What a person should hear.
    std::string learned_state = {};                ///< Of an earlier run, for every node; "": none.
    /// Given now and then what a node's policy has learnt, for the next run.
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

/// Where the decisions for a node are kept.
std::string node_log_path(const std::string& run_dir, const std::string& node);

}  // namespace forebay
