#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "actors/loader_state.h"
#include "core/base/result.h"
#include "core/base/thread_group.h"
#include "engine/cluster/trainer_node.h"
#include "engine/job/job_spec.h"
#include "engine/process/cpu_limit.h"
#include "engine/process/run_dir.h"
#include "engine/run/job_run.h"
#include "engine/run/run_events.h"
#include "engine/run/run_outcome.h"
#include "engine/run/run_watch.h"
#include "engine/run/status_server.h"
#include "engine/run/tuning.h"

namespace forebay {

/// A running job as its consumer has it: `ingest`, `train` and the public loader pull their batches
/// from one.
///
/// Owns the job's folder, its limit of CPUs, its end of the cluster, the pipeline, the tuner, and
/// what watches and shows the run; opens and ends them in the one order that works. Several
/// sessions may run in a process, each with a folder of its own: no state is the process's. Its
/// calls belong to one thread at a time; what figures() reads holds for any.
///
///   open() -> open_run() -> [resume()] -> start() -> batches from run().source()
///     -> end_stream() -> end() -> outcome()
///
/// What fails before start() has returned has started nothing that the destructor does not end.
class Session {
 public:
  struct Options {
    std::string command;    ///< In logs and statuses: `ingest`, `train`, `loader`.
    RunEvents events = {};  ///< How it speaks to the program.
    int first_process = 0;  ///< See CpuLimit: processes of this job on this machine before it.
    /// `pipeline.cpus` is the limit of these threads alone; null: of the process.
    std::shared_ptr<ThreadGroup> threads = {};
  };

  /// Takes the job's folder, checks what is cheap to check, limits the CPUs, and opens the
  /// cluster's listener where the job has one. Everything that fails is the user's to mend. The job
  /// outlives the session.
  static Result<std::unique_ptr<Session>> open(const JobSpec& job, Options options);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Opens dataset and transforms; reads files that no index describes.
  Status open_run();

  /// Goes on from `saved`, which `where` names in messages.
  Status resume(const LoaderState& saved, const std::string& where);

  /// Starts the pipeline beside `taken` bytes, then the tuner and what watches the run. The stream
  /// ends after `max_batches`.
  Status start(std::uint64_t taken, std::uint64_t max_batches);

  /// After open_run().
  JobRun& run() { return *run_; }
  const JobRun& run() const { return *run_; }
  /// After start().
  Tuning& tuning() { return *tuning_; }
  /// After start().
  RunWatch& watch() { return *watch_; }

  /// How it is now. After start(), from any thread.
  RunFigures figures() const;

  /// The stream of batches has ended: what the run is measured by is taken now, before its threads
  /// are waited for. Once.
  void end_stream();
  /// Ends tuner, watch and cluster, where `error` is told to the workers; "": the job is done. The
  /// pipeline stays. Once is enough.
  void end(const std::string& error);

  /// The figures of a run that reached `position` and waited so long for batches. After end().
  RunOutcome outcome(const Position& position, std::chrono::nanoseconds waited) const;

 private:
  Session(const JobSpec& job, Options options, RunDir held);
  void start_tuner();
  void start_watch();

  const JobSpec& job_;
  const Options options_;
  const RunDir held_;
  const CpuLimit cpus_;
  std::unique_ptr<JobRun> run_;
  std::unique_ptr<TrainerNode> cluster_;  // absent when the job has none
  std::optional<Tuning> tuning_;
  std::unique_ptr<StatusServer> status_;
  std::unique_ptr<RunWatch> watch_;
  double cpu_seconds_at_start_ = 0;
  std::chrono::nanoseconds elapsed_{0};  // this and the two below: when the stream had ended
  double cpu_seconds_ = 0;
  PipelineStats stats_;
};

}  // namespace forebay
