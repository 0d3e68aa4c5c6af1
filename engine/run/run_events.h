#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "actors/input/file_system.h"
#include "engine/job/job_spec.h"
#include "engine/process/stop_source.h"
#include "engine/run/job_run.h"
#include "scheduler/cluster_status.h"
#include "trainer/model.h"

namespace forebay {

/// A run as its view sees it. Everything it refers to outlives the view; the functions may be
/// called on any thread.
struct ViewedRun {
  JobRun& run;
  const JobSpec& job;
  std::function<void(const std::string&)> log;  ///< Writes a line to the log in the job's folder.
  std::function<std::uint64_t()> memory_limit;  ///< In bytes, now.
  /// Describes the tuner's last decision; empty function: no tuner.
  std::function<std::string()> last_decision;
  std::function<LookupCounts()> lookups;  ///< Returns the lookups of table rows so far.
  /// Returns the cluster as the trainer sees it; empty function: no cluster.
  std::function<scheduler::ClusterStatus()> cluster;
};

/// Shows a running job. The calls come from one thread at a time, the one that watches the run.
class RunView {
 public:
  RunView() = default;
  virtual ~RunView() = default;
  RunView(const RunView&) = delete;
  RunView& operator=(const RunView&) = delete;

  /// Called a few times a second; must be cheap.
  virtual void look() = 0;
  /// Shows a line to the user. The line is in the log already.
  virtual void say(const std::string& line) = 0;
};

/// How a run reports to the program that contains it. Empty functions are not called; all may be
/// called on any thread, and everything they use outlives the run.
struct RunEvents {
  /// Receives a line for the user.
  std::function<void(const std::string&)> say = {};
  /// Receives the number of indexed bytes and of all bytes while a dataset is opened.
  std::function<void(std::uint64_t done, std::uint64_t total)> indexing = {};
  /// Makes a view of a run that has begun. Empty: there is no view, and its lines go to `say`.
  std::function<std::unique_ptr<RunView>(const ViewedRun&)> view = {};
  /// Called when a run has made no progress for `run.stall_fail`. If it returns, the stream of
  /// batches ends with this error.
  std::function<void(const std::string& why)> stalled = {};
  /// Called when the resident memory of the process exceeds `pipeline.memory`. The comparison is
  /// made only if this is set, by a program that serves the run alone.
  std::function<void(const std::string& why)> outgrown = {};
  /// Source of stop requests. Null: no requests.
  StopSource* stop = nullptr;
  /// Counts all that the job's runs ask of files and stores.
  std::shared_ptr<IoCounts> counts = std::make_shared<IoCounts>();

  /// Calls `say` if it is set.
  void announce(const std::string& line) const {
    if (say) say(line);
  }
  bool stop_requested() const { return stop != nullptr && stop->requested(); }
  /// Returns the hooks for opening a JobRun.
  JobRun::Hooks hooks() const {
    return {.announce = say ? say : [](const std::string&) {},
            .indexing = indexing ? indexing : [](std::uint64_t, std::uint64_t) {},
            .stopped = [asked = stop] { return asked != nullptr && asked->requested(); },
            .index_from = {},
            .counts = counts};
  }
};

}  // namespace forebay
