#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

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
/// Owns both files, and an actor that writes them on a thread of its own, so that no step waits for
/// the disk. An error in a running job ends the log of that file, not the run. If writing throws,
/// the line is lost and the actor is restarted, kRestarts times; both are reported. Belongs to the
/// model's thread; the destructor waits until all lines are written.
class TrainLog {
 public:
  static constexpr std::size_t kRestarts = 3;
  /// Reports a message to the user, on any thread.
  using Say = std::function<void(const std::string&)>;

  /// Creates or opens the files for a run that continues after `begin`; fails if that is not
  /// possible. `kept`: what the run before kept(), or "". `evaluated`: that run evaluated the model
  /// at `begin`.
  static Result<TrainLog> open(const JobSpec& job, const Position& begin, Say say = {},
                               const std::string& kept = {}, bool evaluated = false);

  ~TrainLog();
  TrainLog(TrainLog&& other) noexcept;
  TrainLog& operator=(TrainLog&& other) noexcept;

  /// Returns what the next line's mean needs when a later run continues from here: the number of
  /// steps since the last line and the sum of their losses, "7 4.25". Empty if nothing is logged.
  /// All lines so far are in the files then.
  std::string kept() const;

  /// To be called after each step; `paused` is the total time spent on anything but training.
  void step(const TrainProgress& progress, std::optional<double> learning_rate,
            std::chrono::nanoseconds paused);
  void evaluated(const Position& position, const Quality& quality);

  /// Waits until all lines so far are in the files.
  void flush() const;

 private:
  class Writer;

  TrainLog();
  void write(const LogLine& line);
  void restore(const std::string& kept);

  std::unique_ptr<Writer> writer_;  // null: nothing is logged
  std::uint64_t every_ = 1;
  double loss_sum_ = 0;  // this and below: since the last line
  std::uint64_t steps_ = 0;
  std::uint64_t rows_ = 0;  // this and below: totals of the run at the last line
  std::chrono::nanoseconds elapsed_{0};
  std::chrono::nanoseconds waited_{0};
  std::chrono::nanoseconds paused_{0};
};

}  // namespace forebay
