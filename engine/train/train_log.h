#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "trainer/evaluation.h"
#include "trainer/log/csv_file.h"
#include "trainer/log/event_file.h"
#include "trainer/train_loop.h"

namespace forebay {

/// A checkpoint's file of TrainLog::kept().
inline constexpr char kTrainLogFile[] = "train_log.txt";

/// A run's figures on disk: `trainer.tensorboard` and `trainer.csv`, a line every
/// `trainer.log_every` steps and one an evaluation.
///
/// Owns both files. What cannot be written once the run goes on ends the log, not the run:
/// take_note() says so. Belongs to the model's thread.
class TrainLog {
 public:
  /// What the run before left to this one.
  struct Before {
    std::string kept = {};   ///< As kept() said; empty: nothing.
    bool evaluated = false;  ///< It evaluated the model where this one begins.
  };
  /// Makes or opens the files for a run that goes on after `begin`; refused where they cannot be.
  static Result<TrainLog> open(const JobSpec& job, const Position& begin, const Before& before);

  /// What the next line will be a mean of, for a run that goes on from here: the steps since the
  /// last line and the sum of their losses, "7 4.25". Empty where nothing is logged.
  std::string kept() const;

  /// After each step; `paused` is the time so far in which something else than training was done.
  void step(const TrainProgress& progress, std::optional<double> learning_rate,
            std::chrono::nanoseconds paused);
  void evaluated(const Position& position, const Quality& quality);

  /// What a person should hear, once; empty: nothing.
  std::string take_note() { return std::exchange(note_, {}); }

 private:
  TrainLog() = default;
  void write(const LogLine& line);
  void restore(const std::string& kept);

  std::optional<EventFile> events_;
  std::optional<CsvFile> csv_;
  std::uint64_t every_ = 1;
  std::string note_;
  double loss_sum_ = 0;  // this and below: since the last line
  std::uint64_t steps_ = 0;
  std::uint64_t rows_ = 0;  // this and below: of the run, at the last line
  std::chrono::nanoseconds elapsed_{0};
  std::chrono::nanoseconds waited_{0};
  std::chrono::nanoseconds paused_{0};
};

}  // namespace forebay
