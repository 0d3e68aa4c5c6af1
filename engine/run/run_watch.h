#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/runtime/synchronized.h"
#include "core/runtime/ticker.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "engine/run/run_events.h"
#include "engine/run/run_log.h"
#include "engine/run/stall_watchdog.h"
#include "engine/run/stop_relay.h"

namespace forebay {

/// What looks after a run that has begun, a few times a second: passes a stop on, reports stalls,
/// has it shown, and keeps all that is said in the job's log. Where the program wants it, the
/// memory of the process is compared with its limit, too.
///
/// From its construction to end(), with a thread of its own. The run and the events must outlive
/// it.
class RunWatch {
 public:
  struct Options {
    JobRun& run;
    const JobSpec& job;
    std::string name;  ///< Of the log: `train`, `ingest`, `evaluate`.
    const RunEvents& events;
    /// `pipeline.memory` as it is now; empty: the job's.
    std::function<std::uint64_t()> memory = {};
    /// What the run keeps to, now; empty: as `memory`.
    std::function<std::uint64_t()> memory_limit = {};
    std::function<std::string()> last_decision = {};            ///< The tuner's, in words.
    std::function<std::vector<std::string>()> take_notes = {};  ///< Lines to say at the next look.
  };

  explicit RunWatch(Options options);
  ~RunWatch() { end(); }
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  /// Says a line at the next look. Any thread.
  void note(const std::string& line);
  /// The table lookups of the run so far. Any thread.
  void looked_up(const LookupCounts& lookups);

  /// Says what is left to say, then nothing any more. Once is enough.
  void end();

 private:
  void watch_memory();
  void look();
  void say_notes();
  void say(const std::string& line);
  void stalled(const std::string& what);

  const Options options_;
  RunLog log_;
  StopRelay stop_;
  StallWatchdog stalls_;
  const Synchronized<> noted_;  // over the two below
  std::vector<std::string> notes_;
  LookupCounts lookups_;
  std::unique_ptr<RunView> view_;  // the ticker's thread, while there is one
  std::optional<Ticker> ticker_;
};

}  // namespace forebay
