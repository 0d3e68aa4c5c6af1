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
