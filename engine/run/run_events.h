#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "engine/job/job_spec.h"
#include "engine/process/stop_source.h"
#include "engine/run/job_run.h"
#include "trainer/model.h"

namespace forebay {

/// A run as a view of it shows it. What it refers to outlives the view; the functions may be called
/// from any thread.
struct ViewedRun {
  JobRun& run;
  const JobSpec& job;
  std::function<void(const std::string&)> log;  ///< Keeps a line in the job's folder.
  std::function<std::uint64_t()> memory_limit;  ///< In bytes, now.
  std::function<std::string()> last_decision;   ///< The tuner's, in words; empty: none.
  std::function<LookupCounts()> lookups;        ///< Of table rows, so far.
};

/// Shows a run while it goes on. The calls come from one thread at a time, that which watches the
/// run.
class RunView {
 public:
  RunView() = default;
  virtual ~RunView() = default;
  RunView(const RunView&) = delete;
  RunView& operator=(const RunView&) = delete;

  /// A few times a second; must be cheap.
  virtual void look() = 0;
  /// Says a line that a user should read. The log has it already.
  virtual void say(const std::string& line) = 0;
};

/// How a run speaks to the program that it runs in. An empty function is not called; all may be
/// called from any thread, and what they use outlives the run.
struct RunEvents {
  /// A line that a user should read.
  std::function<void(const std::string&)> say = {};
  /// How many bytes of how many are indexed, while a dataset is opened.
  std::function<void(std::uint64_t done, std::uint64_t total)> indexing = {};
  /// Makes a view of a run that has begun. Empty: none is shown, and what it would say goes to
  /// `say`.
  std::function<std::unique_ptr<RunView>(const ViewedRun&)> view = {};
  /// A run made no progress for `run.stall_fail`. Where it returns, the stream of batches ends with
  /// this error.
  std::function<void(const std::string& why)> stalled = {};
  /// The resident memory of the process outgrew `pipeline.memory`. It is compared only where this
  /// is given: by a program that is the run's alone.
  std::function<void(const std::string& why)> outgrown = {};
  /// Asks the run to end. Null: nobody does.
  StopSource* stop = nullptr;

  /// `say`, where it is given.
  void announce(const std::string& line) const {
    if (say) say(line);
  }
  bool stop_requested() const { return stop != nullptr && stop->requested(); }
  /// For opening a JobRun.
  JobRun::Hooks hooks() const {
    return {.announce = say ? say : [](const std::string&) {},
            .indexing = indexing ? indexing : [](std::uint64_t, std::uint64_t) {},
            .stopped = [asked = stop] { return asked != nullptr && asked->requested(); }};
  }
};

}  // namespace forebay
