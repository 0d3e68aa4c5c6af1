#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "engine/cluster/head_location.h"
#include "engine/cluster/hosting/actor_hosting.h"
#include "engine/cluster/link_compression.h"
#include "engine/cluster/node_tuners.h"
#include "engine/cluster/stage_split_executor.h"
#include "engine/cluster/worker_pipeline.h"
#include "engine/metrics/figures.h"
#include "engine/run/memory_watch.h"
#include "scheduler/protocol.h"
#include "scheduler/worker/worker_actor.h"
#include "tuner/live/tuner_actor.h"

namespace forebay {

/// A worker process: joins a head, makes splits, is tuned by the trainer, and ends when the job
/// does. Users' actors live in it, too, if it is given their libraries.
///
/// Owns everything from open() until run() returns; run() belongs to the main thread.
class WorkerNode final : scheduler::HeadFinder, scheduler::SplitClientFinder {
 public:
  struct Options {
    std::string join;  ///< In HeadLocation's format.
    std::string keys;
    WorkerSetup place;
    std::chrono::nanoseconds heartbeat = std::chrono::milliseconds(250);
    std::chrono::nanoseconds grace = std::chrono::seconds(5);  ///< After a stop request.
    /// Time without a head after which run() fails.
    std::chrono::nanoseconds patience = std::chrono::minutes(10);
    ActorLibraries::Options actors = {};  ///< Users' actors; none: it takes splits only.
    std::string listen = {};  ///< Where programs reach them; "": see ActorHosting::open().
    actors::ObjectLimits objects = {};  ///< For the objects of the actors.
    std::function<void(const std::string&)> say;
    /// Called when the process uses more memory than `--memory`. Empty: no check.
    std::function<void(const std::string& why)> outgrown = {};

    /// Whether users' actors may come to it.
    bool has_actors() const { return !actors.paths.empty() || actors.accept_shipped; }
  };

  /// Result of a run.
  struct Outcome {
    std::string job;
    std::uint64_t splits = 0;
    double seconds = 0;
    std::string refused;         ///< Why it could not make the job's splits; empty if it could.
    bool misconfigured = false;  ///< Refused since its own options cannot serve the job.
  };

  /// Reads the keys and connects: wrong addresses and keys are reported here.
  static Result<std::unique_ptr<WorkerNode>> open(Options options);
  ~WorkerNode() override;

  /// Blocks until the job ends, the head refuses the worker, or `stopped` returns true.
  Result<Outcome> run(const std::function<bool()>& stopped);

  /// Returns the current figures. Any thread.
  WorkerFigures figures() const;

 private:
  explicit WorkerNode(Options options) : options_(std::move(options)) {}

  void make_worker();
  void tune(NodeStages* stages, WorkerJob* job);
  tuner::TunerActor::Options tuning(const JobSpec& job);
  std::unique_ptr<tuner::Policy> policy_for(const std::string& name, std::uint64_t seed);
  void watch_memory(const NodeStages& stages, std::uint64_t resident);
  void look(const std::function<bool()>& stopped);
  bool is_turned_away_for_long(const scheduler::WorkerStatus& status, std::chrono::nanoseconds now);
  /// `ready`: splits made and not handed over.
  void look_at_link(std::uint64_t ready);
  void obey(const Advised& advised);
  void end_with(Result<scheduler::WorkerStatus> last);
  scheduler::HeadRef head() override;
  scheduler::SplitClientRef split_client(const std::string& address) override;
  TunersRef tuners();

  const Options options_;
  SystemClock clock_;
  std::unique_ptr<ActorHosting> hosting_;  // null without libraries of actors
  std::unique_ptr<NetworkEndpoint> net_;
  std::optional<HeadLocation> head_;
  std::unique_ptr<StageSplitExecutor> work_;
  scheduler::WorkerActor::Ref worker_;
  std::unique_ptr<WorkerPipeline> tuned_pipeline_;  // while stages run
  std::optional<ActorSystem> tuning_;      // runs the tuner; destroyed before the tuned pipeline
  std::unique_ptr<MemoryWatch> memory_;    // while stages run
  std::chrono::nanoseconds last_head_{0};  // used on the ticker's thread, like leaving_
  bool leaving_ = false;
  std::chrono::nanoseconds next_look_{0};
  std::optional<std::chrono::nanoseconds> turned_away_since_;
  std::optional<LinkCompression> compression_;  // used on the ticker's thread
  const Synchronized<> advice_{};               // guards the two below, which are the job's
  LinkSeen link_seen_;
  std::optional<Compression> told_;  // by the central tuner
  Latch over_;
  const Synchronized<> serial_{};                         // guards the members below
  std::optional<Result<scheduler::WorkerStatus>> ended_;  // the worker's last status
  std::string split_client_address_;
  std::map<std::string, bool> dialled_;
};

}  // namespace forebay
