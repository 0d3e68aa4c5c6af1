#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "engine/job/job_spec.h"
#include "engine/metrics/metrics_server.h"
#include "engine/metrics/run_figures.h"
#include "engine/process/exit_status.h"
#include "engine/report/progress.h"
#include "engine/run/job_run.h"
#include "engine/run/run_log.h"
#include "engine/run/run_monitor.h"
#include "engine/run/run_outcome.h"
#include "engine/run/tuning.h"
#include "trainer/model.h"

namespace forebay {

/// What a person sees of a running job, and the ear that hears her stop it.
///
/// From its construction to end() shows progress on stderr (one live line on a terminal, a plain
/// line every few seconds elsewhere), keeps all it says in the job's log, and warns of stalls. A
/// stop that was asked for ends the run's stream of batches; a stall past `run.stall_fail`, and
/// memory past `pipeline.memory`, end the process. The run must outlive it.
class RunScreen {
 public:
  /// How the job's cluster is; asked from any thread.
  using Cluster = std::function<scheduler::ClusterStatus()>;

  /// `tuning` is the run's, absent when nothing is tuned; it outlives the screen. With it the
  /// screen answers `forebay status` and serves the job's metrics.
  RunScreen(JobRun& run, const JobSpec& job, const std::string& command, Tuning* tuning = nullptr,
            Cluster cluster = {});
  ~RunScreen();
  RunScreen(const RunScreen&) = delete;
  RunScreen& operator=(const RunScreen&) = delete;

  /// For the time before a run exists: announcements, how far indexing is, and the stop flag.
  static JobRun::Hooks opening();

  /// The table lookups of the run so far, for the progress line. From any thread.
  void looked_up(const LookupCounts& lookups);

  /// Says a line at the next look. From any thread.
  void note(const std::string& line);

  /// The stream of batches has ended: what the run is measured by is taken now, before its threads
  /// are waited for. Once, before end().
  void stream_ended();
  /// Says what is left to say, then nothing any more. After the tuner's end, which may have last
  /// notes.
  void end();
  /// From the pipeline's start to the stream's end.
  std::chrono::nanoseconds elapsed() const { return ended_ - began_; }

  /// The end of a run: figures, a table of the stages, the bottleneck and why. Before the run is
  /// closed.
  std::string summary(const RunOutcome& outcome) const;

 private:
  void look();
  void show();
  void say(const std::string& line);
  void say_notes();
  void clear_line();
  std::uint64_t memory_limit() const;
  RunFigures figures() const;
  void open_windows();
  void watch_memory();
  ProgressView view(std::chrono::nanoseconds now);

  JobRun& run_;
  const JobSpec& job_;
  Tuning* const tuning_;
  const std::string command_;
  const Cluster cluster_;  // absent when the job has none
  const bool nobody_trains_;
  const bool on_terminal_;
  RunLog log_;
  const std::chrono::nanoseconds began_;
  const double cpu_seconds_at_start_;
  std::chrono::nanoseconds ended_{0};  // this and the two below: when the stream of batches did
  double cpu_seconds_at_end_ = 0;
  PipelineStats stats_at_end_;
  const Synchronized<> noted_;  // over the two below
  std::vector<std::string> notes_;
  LookupCounts lookups_;
  bool stop_passed_on_ = false;
  bool line_shown_ = false;
  std::chrono::nanoseconds shown_at_;  // this and below: at the last line shown
  std::uint64_t shown_rows_ = 0;
  std::chrono::nanoseconds shown_waited_{0};
  LookupCounts shown_lookups_;
  PipelineStats shown_stats_;
  std::unique_ptr<MetricsServer> metrics_;
  std::unique_ptr<RunMonitor> monitor_;
};

/// Ends the process at once when actors may still be at work, since one stuck in a user's function
/// would hold up an orderly end; everything that had to be saved has been.
Exit leave(const Exit& exit);

}  // namespace forebay
