#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/job_run.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/log/run_log.h"
#include "trainer/train_loop.h"

namespace forebay {

/// Name of the checkpoint's file with TrainLog::kept().
inline constexpr char kTrainLogFile[] = "train_log.txt";

/// Writes a run's figures to disk: `trainer.tensorboard` and `trainer.csv`, one line every
/// `trainer.log_every` steps and one for each evaluation.
///
/// Owns both files. An error in a running job ends the log, not the run; take_note() reports it.
/// Belongs to the model's thread.
class TrainLog {
 public:
  /// Creates or opens the files for a run that continues after `begin`; fails if that is not
  /// possible. `kept`: what the run before kept(), or "". `evaluated`: that run evaluated the model
  /// at `begin`.
  static Result<TrainLog> open(const JobSpec& job, const Position& begin,
                               const std::string& kept = {}, bool evaluated = false);

  /// Returns what the next line's mean needs when a later run continues from here: the number of
  /// steps since the last line and the sum of their losses, "7 4.25". Empty if nothing is logged.
  std::string kept() const;

  /// To be called after each step; `paused` is the total time spent on anything but training.
  void step(const TrainProgress& progress, std::optional<double> learning_rate,
            std::chrono::nanoseconds paused);
  void evaluated(const Position& position, const Quality& quality);

  /// Returns a message for the user once; "": no message.
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
  std::uint64_t rows_ = 0;  // this and below: totals of the run at the last line
  std::chrono::nanoseconds elapsed_{0};
  std::chrono::nanoseconds waited_{0};
  std::chrono::nanoseconds paused_{0};
};

}  // namespace forebay
