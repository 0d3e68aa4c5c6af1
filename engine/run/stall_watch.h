#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "actors/input/file_system.h"
#include "actors/pipeline.h"
#include "core/base/result.h"
#include "engine/run/run_events.h"

namespace forebay {

/// Detects that a run makes no progress.
///
/// Called now and then with a count that grows with any progress (splits through any stage, batches
/// taken); time comes from outside. Belongs to one thread.
class StallWatch {
 public:
  struct Limits {
    std::chrono::nanoseconds warn_after{0};  ///< `run.stall_after`
    std::chrono::nanoseconds fail_after{0};  ///< `run.stall_fail`
  };
  enum class Verdict : std::uint8_t { kMoving, kStalled, kWarnNow, kFailNow };

  StallWatch(Limits limits, std::chrono::nanoseconds now) : limits_(limits), since_(now) {}

  /// Returns kWarnNow once for each stall, then kStalled until there is progress or kFailNow.
  Verdict look(std::uint64_t progress, std::chrono::nanoseconds now);

  /// Begins to measure anew: nothing has to move now.
  void rest(std::chrono::nanoseconds now) {
    since_ = now;
    warned_ = false;
  }

  std::chrono::nanoseconds stalled_for(std::chrono::nanoseconds now) const { return now - since_; }

 private:
  const Limits limits_;
  std::chrono::nanoseconds since_;
  std::uint64_t progress_ = 0;
  bool warned_ = false;
};

/// Returns one line on what the run waits for: the stage that holds the oldest split, how long, and
/// why. `trainer_is_busy`: the trainer is processing a batch instead of waiting for one.
std::string describe_stall(const PipelineStats& stats, bool trainer_is_busy,
                           std::chrono::nanoseconds now);

/// Returns a count that grows with every split through any stage and every batch taken.
std::uint64_t progress_of(const PipelineStats& stats, std::uint64_t batches_taken);

/// Ends a run's stream of batches after a stop request, and when the run makes no progress.
///
/// Reports a stall once after `run.stall_after`, and again after `run.stall_fail`, each time with
/// the reason; after the second report the stream ends with it as its error. look() is called a few
/// times a second by one thread: a stop request may come from a signal handler, which can only set
/// a flag. In a process of somebody else's, a pipeline that waits for the program does not stall:
/// the program may pause as long as it likes. What the options refer to must outlive it.
class StreamWatch {
 public:
  struct Options {
    JobRun& run;
    const RunSpec& spec;
    const RunEvents& events;
    std::function<void(const std::string&)> say;  ///< Receives the reports.
    std::string prefix = {};                      ///< Begins each report.
  };

  explicit StreamWatch(Options options);

  void look();

 private:
  void stalled(const std::string& what);

  const Options options_;
  StallWatch stalls_;
  bool stopped_ = false;
  bool failed_ = false;
};

/// Watches the opening of a dataset, which reads files and stores before there are stages to watch.
///
/// Says once in each stall, after `run.stall_after`, that no request was made and less than 64 KiB
/// were read; after `run.stall_fail` it asks the opening to stop. look() is called a few times a
/// second by one thread, has_failed() by any.
class OpeningWatch {
 public:
  struct Options {
    StallWatch::Limits limits;
    std::shared_ptr<const IoCounts> counts;
    std::function<void(const std::string&)> say;
  };

  OpeningWatch(Options options, std::chrono::nanoseconds now)
      : options_(std::move(options)), stalls_(options_.limits, now) {}

  void look(std::chrono::nanoseconds now);

  /// Whether the opening has to stop, with error().
  bool has_failed() const { return failed_; }
  /// kTimeout. Once look() is not called any more.
  Error error() const;

 private:
  std::string progress(std::chrono::nanoseconds now) const;

  const Options options_;
  StallWatch stalls_;
  std::string failure_;
  std::atomic<bool> failed_{false};
};

}  // namespace forebay
