#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/split_dispatch.h"
#include "core/runtime/latch.h"
#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "core/store/rocks_store.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/job_text.h"
#include "engine/cluster/local_split_executor.h"
#include "engine/cluster/network_endpoint.h"
#include "engine/cluster/node_tuners.h"
#include "engine/cluster/problems.h"
#include "engine/cluster/rows_by_node.h"
#include "engine/cluster/scaling.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "scheduler/arrival_sink.h"
#include "scheduler/head_actor.h"
#include "scheduler/split_client.h"
#include "scheduler/worker_actor.h"

namespace forebay {

/// The trainer's end of a cluster: the listener, the head (or the way to one), the split client,
/// and this node's own worker. Between the pipeline, which issues splits and takes them, and the
/// actors.
///
/// open() before the job is opened, so that what is wrong with addresses and keys shows at once;
/// begin() when the pipeline stands; end() before the pipeline goes. Its own threads call the rest.
class TrainerNode final : public SplitDispatch,
                          scheduler::ArrivalSink,
                          scheduler::HeadFinder,
                          scheduler::SplitClientFinder {
 public:
  using Say = std::function<void(const std::string&)>;

  /// Nothing when the job has no cluster. The job's folder is held by this process.
  static Result<std::unique_ptr<TrainerNode>> open(const JobSpec& job, const std::string& command,
                                                   Say say);
  ~TrainerNode() override;

  /// What the pipeline has to be started with.
  JobRun::Sharing sharing();

  /// From now on splits are leased. The run outlives end().
  Status begin(JobRun& run);

  /// Tells everybody that the job is over, and waits until they were told, at most two seconds.
  void end(const std::string& error);

  /// Where workers join, as "tcp://H:P".
  const std::string& address() const { return address_; }
  /// Of what the trainer had got at `position`.
  std::map<std::string, std::uint64_t> rows_by_node(const Position& position) const;
  /// A snapshot, a second old at most.
  scheduler::ClusterStatus status() const;

 private:
  TrainerNode(const JobSpec& job, std::string command, Say say)
      : job_(job), command_(std::move(command)), say_(std::move(say)), received_(~std::size_t{0}) {}

  Status open_listener();
  Status open_head();
  Status start_split_client(JobRun& run, const JobText& text, const std::string& fingerprint);
  void start_local_worker();
  void start_tuners();
  void write_address() const;
  void remove_address() const;
  std::optional<scheduler::ClusterStatus> ask_around();
  void look();
  void use(const scheduler::ClusterStatus& status);
  void check_own_files(const scheduler::ClusterStatus& status);
  std::string where_splits_are() const;

  void issued(std::uint64_t number) override;
  void made_here(std::uint64_t number, std::uint64_t rows) override;
  Result<bool> arrived(std::uint64_t split, const std::string& worker, Frames frames) override;
  scheduler::HeadRef head() override;
  scheduler::SplitClientRef split_client(const std::string&) override { return split_client_; }
  void count_rows(std::uint64_t split, const std::string& node, std::uint64_t rows);

  const JobSpec& job_;
  const std::string command_;
  const Say say_;
  SystemClock clock_;
  MemoryBudget received_;  // counts what came by wire and lives
  std::string address_;
  std::string job_id_;
  std::unique_ptr<RocksStore> store_;
  std::unique_ptr<NetworkEndpoint> net_;
  std::optional<HeadLocation> other_head_;  // where the job names a head of its own
  std::unique_ptr<LocalSplitExecutor> local_executor_;
  JobRun* run_ = nullptr;
  ActorRef<scheduler::IssueSplits, scheduler::Trained, scheduler::EndJob,
           scheduler::QuerySplitClient>
      split_client_control_;
  scheduler::SplitClientRef split_client_;
  scheduler::HeadRef own_head_;
  ActorRef<scheduler::QueryCluster> head_status_;
  ActorRef<scheduler::SaveLearnedState, scheduler::FindLearnedState> keeper_;  // our own head's
  scheduler::WorkerActor::Ref local_worker_;
  NodeTuners::Ref tuners_;
  Latch closed_;
  const Synchronized<> serial_{};     // over those below
  std::vector<std::uint64_t> early_;  // issued before the split client stood
  bool begun_ = false;
  std::optional<RowsByNode> rows_;
  scheduler::ClusterStatus status_;
  Problems problems_;     // the ticker's thread, as those below
  std::string refusals_;  // after which our own files were checked last
  std::optional<Scaling> scaling_;
  std::unique_ptr<Ticker> ticker_;
};

}  // namespace forebay
