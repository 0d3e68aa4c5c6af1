#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/clock.h"
#include "core/runtime/synchronized.h"
#include "engine/history/event_log.h"
#include "engine/history/run_history.h"
#include "engine/metrics/figures.h"
#include "engine/metrics/verdict.h"

namespace forebay {

/// Name of a run's record in its folder.
inline constexpr char kRecordName[] = "record.json";

/// Keeps what a run did: its history, its events, its verdict, and its status. Answers `forebay
/// status` and the page while the run lives, and leaves a record in the run's folder for `forebay
/// report`.
///
/// A run that never starts leaves the record of the run before it. The record has at most
/// kMostBytes, whatever the run's length; it is written at the start, each half minute, at the end,
/// and with each warning. A record that cannot be written ends nothing. look() belongs to one
/// thread; any thread may call the other functions.
class RunRecorder {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{8} << 20;
  static constexpr std::chrono::seconds kSamplePeriod{1};
  static constexpr std::chrono::seconds kWritePeriod{30};
  /// A verdict is of the last ten seconds.
  static constexpr std::size_t kVerdictSamples = 10;

  struct Options {
    std::string path;     ///< Of the record.
    std::string command;  ///< `train`, `ingest`, `loader`
    std::string job;      ///< The job file.
    double began = 0;     ///< The time now, in seconds since 1970.
    const Clock& clock;
  };
  explicit RunRecorder(Options options);

  using Figures = std::function<RunFigures()>;
  /// The run has started: figures of it come from `figures`, on any thread, until rest().
  void observe(Figures figures);
  /// The run's pipeline is about to end: takes the last sample. status() and history() stay.
  void rest();

  /// To be called a few times a second: takes a sample each second, writes the record when it is
  /// due.
  void look();

  /// Adds events; warn() also writes the record, since a line may be the last one.
  void decided(const JsonObject& decision);
  void warn(const std::string& line);

  void looked_up(std::uint64_t lookups, std::uint64_t ready);
  /// A step was trained with this mean loss of its batch; cheap.
  void learned(std::uint64_t step, double loss);
  void evaluated(const Learning::Evaluation& evaluation);
  void placed(std::vector<Learning::Table> tables);
  Learning learning() const;

  Verdict verdict() const;

  /// How the run ended: `done`, `stopped`, `failed` with an error, `refused`. Only the first call
  /// counts: it adds the event `end`, writes the record and closes the event log.
  void end(std::string_view how, const std::string& error);

  /// The three below: what the page shows, in JSON.
  std::string status() const;
  std::string history(double seconds) const;
  EventLog& events() { return events_; }

 private:
  double time_now() const;
  void take_sample();
  void compare_nodes(const RunFigures& now);
  std::string status_now() const;
  std::string record() const;
  void write();

  const Options options_;
  const std::chrono::nanoseconds start_;
  EventLog events_;
  std::atomic<bool> observed_{false};
  // Used by look()'s thread, and by rest(), which guard each other with `looking_`.
  std::deque<RunFigures> recent_;
  std::chrono::nanoseconds sampled_{0};
  std::chrono::nanoseconds written_{0};
  const Synchronized<> looking_;  // also guards the two below
  Figures figures_;
  mutable std::string last_status_;
  mutable std::chrono::nanoseconds status_at_{0};
  const Synchronized<> writing_;  // one thread writes the record
  const Synchronized<> keeping_;  // guards the rest
  RunHistory history_;
  std::vector<std::string> stage_names_;
  Learning learning_;
  double loss_sum_ = 0;  // this and below: since the last sample
  std::uint64_t loss_steps_ = 0;
  Verdict verdict_;
  Verdict whole_verdict_;  // of the whole run
  std::string how_;        // "": it has not ended
  std::string error_;
  double ended_ = 0;
};

/// Returns the record that a run left in `folder`, a job's folder or its `.forebay`; one JSON
/// object. kNotFound: there is none; kCorrupt: it is no record, or one of a later version.
Result<std::string> read_record(const std::string& folder);

}  // namespace forebay
