#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "core/store/rocks_store.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/local_split_executor.h"
#include "engine/cluster/scaling.h"
#include "engine/cluster/trainer_tuning.h"
#include "engine/cluster/trainer_view.h"
#include "engine/cluster/use_by_node.h"
#include "engine/cluster/worker_job.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "scheduler/client/split_client.h"
#include "scheduler/head/head_actor.h"
#include "scheduler/worker/worker_actor.h"

namespace forebay {

/// The trainer's node of a cluster: the listener, the head (or the connection to one), the split
/// client, and this node's own worker. Connects the pipeline, which issues and receives splits, to
/// the actors.
///
/// Call open() before the job is opened, so that wrong addresses and keys are reported at once;
/// begin() when the pipeline has started; end() before the pipeline is destroyed. The other
/// functions are called on its own threads.
class TrainerNode final : public SplitDispatch,
                          scheduler::ArrivalSink,
                          scheduler::HeadFinder,
                          scheduler::SplitClientFinder {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Returns null if the job has no cluster. This process must hold the lock of the job's folder.
  static Result<std::unique_ptr<TrainerNode>> open(const JobSpec& job, const std::string& command,
                                                   Say say);
  ~TrainerNode() override;

  /// Fails where open() would: on its keys and addresses. Frees the addresses at once and leaves
  /// the job's folder as it is.
  static Status check(const JobSpec& job);

  /// Returns the options with which the pipeline must be started.
  JobRun::Sharing sharing();

  /// Leases splits from now on. `run` outlives end().
  Status begin(JobRun& run);

  /// Announces to all nodes that the job is over, and waits at most two seconds for the message to
  /// be delivered. Ends a `cluster.scale` command that does not end by itself (Scaling).
  void end(const std::string& error);

  /// Makes the policy of this node's own stages where one decision is made for all nodes; else
  /// null. Call it after begin().
  std::unique_ptr<tuner::Policy> central_policy(const tuner::PolicyContext& context) {
    return tuning_.central_policy(context);
  }

  /// The central tuner's advice on the model's threads; null where every node has a tuner of its
  /// own. Call it after begin().
  ThreadAdvice* thread_advice() { return tuning_.thread_advice(); }

  /// From now on the heartbeats of this node carry these limits. `limits` is
  /// called on another thread until end().
  void follow_limits(std::function<tuner::Limits()> limits) {
    serial_([&] { limits_ = std::move(limits); });
  }

  /// The address that workers join, those on other machines, too, as "tcp://H:P": that of the head.
  /// "" if this node does not listen.
  std::string join_address() const;
  /// Returns, for each node, the rows that the trainer had received at `position`.
  std::map<std::string, std::uint64_t> rows_by_node(const Position& position) const;
  /// Returns, for each worker of another process, what it has used for the job.
  std::map<std::string, scheduler::JobUse> use_by_node() const;
  /// Returns a snapshot that is at most one second old.
  scheduler::ClusterStatus status() const;

 private:
  TrainerNode(const JobSpec& job, std::string command, Say say)
      : job_(job),
        say_(std::move(say)),
        received_(~std::size_t{0}),
        tuning_(job_, std::move(command), say_, clock_) {}

  Status open_listener();
  Status open_head();
  Status start_split_client(JobRun& run, const JobText& text, const std::string& fingerprint);
  void start_local_worker();
  void write_address() const;
  void remove_address() const;
  std::optional<scheduler::ClusterStatus> ask_around();
  void look();
  void use(const scheduler::ClusterStatus& status);
  void tell_limits();
  void check_own_files(const scheduler::ClusterStatus& status);
  std::string where_splits_are() const;

  void issued(std::uint64_t number) override;
  void made_here(std::uint64_t number, std::uint64_t rows) override;
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;
  void has_used(const std::string& worker, std::uint64_t pid,
                const scheduler::JobUse& so_far) override;
  scheduler::HeadRef head() override;
  scheduler::SplitClientRef split_client(const std::string&) override { return split_client_; }

  const JobSpec& job_;
  const Say say_;
  SystemClock clock_;
  MemoryBudget received_;  // counts the bytes of received messages that are still in memory
  std::string address_;
  std::string job_id_;
  TrainerTuning tuning_;
  std::unique_ptr<RocksStore> store_;
  std::unique_ptr<NetworkEndpoint> net_;
  std::optional<HeadLocation> other_head_;  // if the job names a separate head
  std::unique_ptr<LocalSplitExecutor> local_executor_;
  JobRun* run_ = nullptr;
  scheduler::SplitClient::Ref split_client_;
  scheduler::HeadActor::Ref own_head_;  // unless the job names a separate head
  scheduler::WorkerActor::Ref local_worker_;
  double taken_before_ = 0;  // splits that earlier runs took
  Latch closed_;
  const Synchronized<> serial_{};     // guards the members below
  std::vector<std::uint64_t> early_;  // issued before the split client started
  bool begun_ = false;
  std::optional<RowsByNode> rows_;
  UseByNode use_;
  scheduler::ClusterStatus status_;
  std::function<tuner::Limits()> limits_;
  Problems problems_;     // used on the ticker's thread, like those below
  std::string refusals_;  // the refusals after which our own files were last checked
  std::optional<Scaling> scaling_;
  std::unique_ptr<Ticker> ticker_;
};

}  // namespace forebay
