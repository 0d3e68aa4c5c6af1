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

#include "engine/cluster/thread_advice.h"
#include "engine/cluster/tuner_messages.h"
#include "tuner/cluster/cluster_planner.h"
#include "tuner/policy.h"

namespace forebay {

/// The value of `tuner.policy` with which one decision is made for all nodes.
inline constexpr std::string_view kCentralTuner = "central";

/// The central tuner beside the trainer (design/central_tuner.md): keeps every node's last report
/// and answers with that node's part of a decision for the whole cluster, which is made once a
/// period. A node that has not reported for three periods is not planned with. Belongs to one
/// thread.
class CentralTuner {
 public:
  struct Options {
    std::chrono::nanoseconds period;
    std::string own;  ///< The name of the trainer's own node.
    /// Called with each decision and what it rests on.
    std::function<void(const tuner::ClusterReport&, const tuner::ClusterAdvice&)> on_decision = {};
  };

  explicit CentralTuner(Options options) : options_(std::move(options)) {}

  /// Takes a node's report, decides if it is time to, and returns the node's advice. `now`: of one
  /// clock.
  /// Throws if the node has other stages than the others.
  Advised advise(const AskDecision& ask, std::chrono::nanoseconds now);
  void observe(const TrainerSeen& sums) { sums_ = sums; }

 private:
  struct Node {
    tuner::NodeReport report;
    std::chrono::nanoseconds at{0};
    std::optional<Advised> advice = {};
  };

  void decide(std::chrono::nanoseconds now);
  tuner::TrainerReport trainer_report();

  const Options options_;
  tuner::ClusterPlanner planner_;
  std::map<std::string, Node> nodes_;
  std::optional<std::chrono::nanoseconds> began_;  // when the first decision was made
  std::chrono::nanoseconds decided_{0};
  TrainerSeen sums_;
  TrainerSeen before_;
};

/// A node's policy with every `tuner.policy`: asks the tuners beside the trainer for each decision,
/// and applies their answer.
///
/// If they do not answer, the current allocation stays; after kSilent periods without an answer the
/// node's own policy decides, which has seen all observations meanwhile, until they answer again.
/// Belongs to the tuner's thread, which blocks until the answer arrives, a second at most.
class CentralPolicy final : public tuner::Policy {
 public:
  static constexpr int kSilent = ThreadAdvice::kSilent;

  struct Options {
    AskDecision question;                     ///< What it asks, without observation and link.
    std::string name;                         ///< Of the policy that answers: for the log.
    std::function<TunersRef()> tuners;        ///< Returns the tuners as they can be reached now.
    std::unique_ptr<tuner::Policy> own = {};  ///< Decides when they are silent.
    /// Returns the state of the link at the time of an observation.
    std::function<LinkSeen(const tuner::Observation&)> link = {};
    std::function<void(const Advised&)> obey = {};  ///< Applies advice other than the allocation.
    std::function<void(const std::string&)> say = {};  ///< Reports silence, and its end.
  };

  explicit CentralPolicy(Options options) : options_(std::move(options)) {}

  std::string_view name() const override { return options_.name; }
  tuner::Proposal decide(const tuner::Observation& seen) override;

 private:
  std::optional<Advised> ask_tuners(const tuner::Observation& seen);
  void obey(const Advised& advised) const;

  Options options_;
  int silent_ = 0;  // periods
};

}  // namespace forebay
