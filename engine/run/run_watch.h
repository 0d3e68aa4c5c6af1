#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/history/run_recorder.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "engine/run/run_events.h"
#include "engine/run/tuning.h"
#include "engine/run/watch/stream_watch.h"

namespace spdlog {
class logger;
}

namespace forebay {

/// A run's log: its messages in a file of the job's folder, with the time of each line.
///
/// Owns `DIR/logs/COMMAND.log` and keeps its last few megabytes. Any thread may write. If the file
/// cannot be made or written, the run goes on without a log.
class RunLog {
 public:
  RunLog(const std::string& run_dir, const std::string& command);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  void write(const std::string& line);

 private:
  std::shared_ptr<spdlog::logger> logger_;
};

/// Watches a running job, a few times a second: relays a stop request, reports stalls, updates the
/// view, and writes all messages to the job's log. If the program wants it, compares the memory of
/// the process with its limit, too.
///
/// Runs from its construction to end(), by an actor on a thread of its own, which is restarted if a
/// look throws; the run never ends because of it. The run and the events must outlive it.
class RunWatch {
 public:
  struct Options {
    JobRun& run;
    const JobSpec& job;
    std::string name;  ///< Name of the log: `train`, `ingest`, `evaluate`.
    const RunEvents& events;
    Tuning* tuning = nullptr;                                ///< Null: a run that nothing tunes.
    RunRecorder* recorder = nullptr;                         ///< Null: the run is not recorded.
    std::function<scheduler::ClusterStatus()> cluster = {};  ///< ViewedRun::cluster.
  };

  explicit RunWatch(Options options);
  ~RunWatch() { end(); }

  /// Reports a line at the next look. Any thread.
  void note(const std::string& line);
  /// Sets the table lookups of the run so far. Any thread.
  void looked_up(const LookupCounts& lookups);

  /// Reports the remaining lines and ends the watch. Further calls do nothing.
  void end();

 private:
  std::uint64_t memory_limit() const;
  void watch_memory();
  void look();
  void note_crash(const Error& crash);
  void say_notes();
  void warn(const std::string& line);
  void say(const std::string& line);

  const Options options_;
  RunLog log_;
  StreamWatch stream_;
  const Synchronized<> noted_;  // guards the two below
  std::vector<std::string> notes_;
  LookupCounts lookups_;
  std::unique_ptr<RunView> view_;  // used on the ticker's thread while it exists, like crash_
  std::string crash_;              // the last one that was noted
  std::optional<Ticker> ticker_;
};

}  // namespace forebay
