#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/runtime/actor.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/ask.h"
#include "core/wire/codec.h"
#include "engine/job/job_spec.h"
#include "tuner/log/decision_fields.h"
#include "tuner/log/decision_log.h"
#include "tuner/policy.h"
#include "tuner/policy/policies.h"

namespace forebay {

// Wire format of the tuner's values; the tuner itself does not depend on the network. As in all
// messages, fields are append-only.

/// A visitor of a value's listed fields that does nothing with them.
struct NoVisitor {
  void operator()(const char*, const auto&) const {}
};

template <class T>
concept ListedByTuner = requires(NoVisitor& fields, T& value) {
  tuner::list(fields, value);
};

template <ListedByTuner T>
struct WireField<T> {
  static std::size_t count_of(const T& value) {
    std::size_t count = 0;
    const auto add = [&](const char*, const auto&) { ++count; };
    tuner::list(add, value);
    return count;
  }
  static void write(Encoder& encoder, const T& value) {
    encoder.array(count_of(value));
    const auto add = [&](const char*, const auto& field) { write_field(encoder, field); };
    tuner::list(add, value);
  }
  static bool read(Decoder& decoder, T& value) {
    std::size_t count = 0;
    if (!decoder.array(count)) return false;
    if (count != count_of(value)) return decoder.refuse("has other fields");
    bool read = true;
    const auto take = [&](const char*, auto& field) { read = read && read_field(decoder, field); };
    tuner::list(take, value);
    return read;
  }
};

/// Worker → trainer's tuners: asks for a decision, with the worker's machine and observation. The
/// first message of a node creates its policy.
struct AskDecision {
  static constexpr std::string_view kTag = "cluster.ask_decision/1";
  using Reply = tuner::Proposal;
  std::string node;
  tuner::PipelineDescription description;
  tuner::Limits limits;
  tuner::Observation seen;
  static auto fields(auto& self) {
    return std::tie(self.node, self.description, self.limits, self.seen);
  }
};

/// Worker → trainer's tuners: what the worker applied and measured, for the log.
struct DecisionTaken {
  static constexpr std::string_view kTag = "cluster.decision_taken/1";
  std::string node;
  tuner::Decision decision;
  static auto fields(auto& self) { return std::tie(self.node, self.decision); }
};

using TunersRef = ActorRef<AskDecision, DecisionTaken>;

/// The tuners of all workers: one policy for each node, which sees that node's observations.
///
/// The guard runs on the node that it guards. The policy's decisions are made, logged
/// (`.forebay/decisions-NODE.jsonl`) and shown here. A worker that joins again keeps its policy and
/// learned state, unless its machine has changed. What is learned is kept for each kind of node,
/// and a node that joins later begins with it. A policy that fails with one node's observations is
/// overruled for this node alone: the model's plan decides there, and after three faults in a row
/// the policy is not asked for it again.
class NodeTuners final : public ActorOf<NodeTuners, AskDecision, DecisionTaken> {
 public:
  struct Options {
    const JobSpec& job;
    std::string command;                           ///< For the log: `train`, `ingest`.
    std::function<void(const std::string&)> note;  ///< Reports a message to the user.
    /// Returns what an earlier run of the same work learned on nodes of this kind; "": nothing.
    std::function<std::string(const std::string& kind)> find = {};
    /// Called now and then with what was learned on nodes of a kind, to save it for the next run.
    std::function<void(const std::string& kind, const std::string& learned_state)> keep = {};
    /// Makes the policy of a node.
    std::function<Result<std::unique_ptr<tuner::Policy>>(std::string_view name,
                                                         const tuner::PolicyContext& context)>
        make = tuner::make_policy;
  };

  explicit NodeTuners(Options options) : options_(std::move(options)) {}

  Result<tuner::Proposal> on(const AskDecision& ask, Context&);
  Status on(const DecisionTaken& taken, Context&);

 private:
  struct Node {
    tuner::PipelineDescription description;
    std::string kind;
    std::unique_ptr<tuner::Policy> policy;
    std::unique_ptr<tuner::Policy> fallback;  // null until it is needed
    int faults = 0;                           // of the policy, in a row
    std::string fault;                        // in the last decision; empty: none
    std::optional<tuner::DecisionLogWriter> log;
    bool log_failed = false;
  };
  /// What was learned on nodes of a kind: by the node that has decided most often in this run.
  struct Learned {
    std::string state;
    std::uint64_t decisions = 0;
  };

  Result<Node*> node_of(const AskDecision& ask);
  Result<Node> make_node(const AskDecision& ask);
  tuner::PolicyContext context_of(const AskDecision& ask) const;
  std::string restore(tuner::Policy& policy, const AskDecision& ask, const std::string& kind);
  tuner::Proposal decide(Node& node, const AskDecision& ask);
  void keep_learned(const Node& node, std::uint64_t decisions);
  void open_log(Node& node, const AskDecision& ask, const std::string& restored);

  const Options options_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, Learned> learned_;  // by kind
};

/// Names the kind of a node: its CPUs, and the actors that it may have. What was learned on a node
/// fits others of its kind.
std::string kind_of(const tuner::PipelineDescription& description, const tuner::Limits& limits);

/// Returns the path of the decision log of a node.
std::string node_log_path(const std::string& run_dir, const std::string& node);

/// A worker's policy: forwards each decision to the policy that the trainer keeps for this node.
///
/// If the trainer does not answer, the current allocation stays. Belongs to the tuner's thread,
/// which blocks until the answer arrives.
class CentralPolicy final : public tuner::Policy {
 public:
  /// `question`: what it asks, without the observation. `tuners` returns the trainer's tuners as
  /// they can be reached now.
  CentralPolicy(AskDecision question, std::function<TunersRef()> tuners)
      : question_(std::move(question)), tuners_(std::move(tuners)) {}

  std::string_view name() const override { return "central"; }
  tuner::Proposal decide(const tuner::Observation& seen) override;

 private:
  AskDecision question_;
  const std::function<TunersRef()> tuners_;
};

}  // namespace forebay
