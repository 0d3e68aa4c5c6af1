#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "actors/loader_state.h"
#include "actors/rank_share.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"
#include "engine/cluster/trainer_node.h"
#include "engine/dashboard/dashboard.h"
#include "engine/energy/energy_meter.h"
#include "engine/energy/worker_energy.h"
#include "engine/history/run_recorder.h"
#include "engine/job/job_spec.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/metrics_server.h"
#include "engine/process/machine.h"
#include "engine/process/run_dir.h"
#include "engine/run/job_run.h"
#include "engine/run/run_events.h"
#include "engine/run/run_outcome.h"
#include "engine/run/run_watch.h"
#include "engine/run/tuning.h"

namespace forebay {

/// A running job as seen by its consumer: `ingest`, `train` and the public loader pull their
/// batches from a session.
///
/// Owns the job's folder, its limit of CPUs, its node of the cluster, the pipeline, the tuner, and
/// the threads that watch and show the run; opens and ends them in the required order. Several
/// sessions may run in a process, each with its own folder: there is no global state. Its functions
/// belong to one thread at a time; figures() may be called on any thread.
///
///   open() -> open_run() -> [resume()] -> start() -> batches from run().source()
///     -> end_stream() -> end() -> outcome()
///
/// If a function fails before start() has returned, the destructor ends everything it has started.
class Session {
 public:
  struct Options {
    std::string command;    ///< For logs and statuses: `ingest`, `train`, `loader`.
    RunEvents events = {};  ///< How it reports to the program.
    /// Of CpuLimit: number of this job's processes on this machine that come before this one.
    int first_process = 0;
    /// `pipeline.cpus` limits only these threads; null: all threads of the process.
    std::shared_ptr<ThreadGroup> threads = {};
    /// Folder of another run, whose index is used for files that have none in the job's; "": none.
    std::string index_of = {};
    /// The rank of a training that this session feeds.
    RankShare share = {};
    /// Whether the consumer takes batches with Batch::lists_once.
    bool lists_once = false;
  };

  /// Locks the job's folder, makes the cheap checks, limits the CPUs, and opens the cluster's
  /// listener if the job has one. The user can fix every error that it returns. The job outlives
  /// the session.
  static Result<std::unique_ptr<Session>> open(const JobSpec& job, Options options);
  ~Session();

  /// Opens dataset and transforms; reads files that have no index.
  Status open_run();

  /// Continues from `saved`; `where` names it in messages.
  Status resume(const LoaderState& saved, const std::string& where);

  /// Starts the pipeline with `taken` bytes of memory in use already, then the tuner and the
  /// threads that watch the run. The stream ends after `max_batches`.
  Status start(std::uint64_t taken, std::uint64_t max_batches);

  /// Valid after open_run().
  JobRun& run() { return *run_; }
  const JobRun& run() const { return *run_; }
  /// Valid after start().
  Tuning& tuning() { return *tuning_; }
  /// Valid after start().
  RunWatch& watch() { return *watch_; }

  /// Returns the current figures. After start(), on any thread.
  RunFigures figures() const;

  /// Call it once, when the stream of batches has ended. Takes the final measurements, before the
  /// run's threads are joined.
  void end_stream();
  /// Ends tuner, watch and cluster, and sends `error` to the workers; "": the job is done. The
  /// pipeline stays. Further calls do nothing.
  void end(const std::string& error);

  /// Records how the run ended, for the page and `forebay report`: `done`, `stopped`, `failed` with
  /// an error; then closes the page. Without it, the destructor records the error given to end().
  void finish(std::string_view how, const std::string& error);

  /// As TrainerNode::thread_advice(); null without a cluster. Valid after start().
  ThreadAdvice* thread_advice() { return cluster_ ? cluster_->thread_advice() : nullptr; }

  /// What the page shows of the run. Any thread.
  RunRecorder& recorder() { return recorder_; }

  /// Returns the figures of a run that reached `position` and waited for batches for `waited`.
  /// After end().
  RunOutcome outcome(const Position& position, std::chrono::nanoseconds waited) const;
  /// Sets what this process and its workers have asked of files and stores until now.
  void count_reads(RunOutcome& outcome) const;

 private:
  Session(const JobSpec& job, Options options, RunDir held);
  Status open_dashboard();
  EnergyUse energy_used(double cpu_seconds) const;
  std::string_view how_ended() const;
  void answer_queries();
  void keep_plan() const;

  const JobSpec& job_;
  const Options options_;
  const RunDir held_;
  const CpuLimit cpus_;
  SystemClock clock_;
  RunRecorder recorder_;
  std::unique_ptr<Dashboard> dashboard_;  // null without `run.dashboard`
  bool ended_ = false;
  std::string error_;  // given to end()
  std::unique_ptr<JobRun> run_;
  std::unique_ptr<TrainerNode> cluster_;  // null if the job has no cluster
  std::optional<Tuning> tuning_;
  std::unique_ptr<MetricsServer> metrics_;  // null without `cluster.metrics`
  std::unique_ptr<RunWatch> watch_;
  double cpu_seconds_at_start_ = 0;
  std::optional<EnergyMeter> energy_;
  const std::uint64_t machine_ = machine_number();
  std::chrono::nanoseconds elapsed_{0};  // this and the two below: taken at the end of the stream
  double cpu_seconds_ = 0;
  PipelineStats stats_;
};

}  // namespace forebay
