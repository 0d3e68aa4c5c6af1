#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "engine/cluster/node_tuners.h"
#include "engine/cluster/thread_advice.h"
#include "engine/job/job_spec.h"
#include "engine/network/network_endpoint.h"
#include "engine/run/job_run.h"
#include "scheduler/head/head_actor.h"
#include "tuner/log/central_log.h"

namespace forebay {

/// The tuners of all nodes, beside the trainer: the actor that workers ask, what it learns in the
/// head's store, and with `tuner.policy = "central"` the one decision for all nodes, its log and
/// what it wants of the trainer and of the launcher.
///
/// Outlives the actors of the network that it was started on.
class TrainerTuning {
 public:
  using Say = std::function<void(const std::string&)>;

  /// `job` and `clock` outlive this object. `command`: for the logs.
  TrainerTuning(const JobSpec& job, std::string command, Say say, const Clock& clock)
      : job_(job), command_(std::move(command)), say_(std::move(say)), clock_(clock) {}

  /// Starts the actor and publishes it. What is learned is kept by work and by kind of node, in the
  /// store of `head`, if that is here.
  void start(NetworkEndpoint& net, const scheduler::HeadActor::Ref& head, const std::string& work);

  /// Makes the policy of this node's own stages where one decision is made for all nodes; else
  /// null. Call it after start().
  std::unique_ptr<tuner::Policy> central_policy(const tuner::PolicyContext& context);

  /// The central tuner's advice on the model's threads; null where every node has a tuner of its
  /// own. Call it after start().
  ThreadAdvice* thread_advice() { return thread_advice_ ? &*thread_advice_ : nullptr; }

  /// The number of workers that the central tuner wants; nullopt: not known. Any thread.
  std::optional<std::uint32_t> workers() const;

  /// Tells the tuners what the trainer did. `taken`: the splits that it has taken in this run.
  void tell(const JobRun& run, double taken);

 private:
  void start_central(NodeTuners::Options& options);
  void log_central(const tuner::ClusterReport& seen, const tuner::ClusterAdvice& advice);

  const JobSpec& job_;
  const std::string command_;
  const Say say_;
  const Clock& clock_;
  std::optional<tuner::CentralLogWriter> central_log_;  // used by tuners_ once it is spawned
  NodeTuners::Ref tuners_;
  std::optional<ThreadAdvice> thread_advice_;  // with the central tuner only
  std::atomic<std::int64_t> workers_{-1};      // negative: not known
};

}  // namespace forebay
