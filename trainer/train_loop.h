#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/evaluation.h"
#include "trainer/loss_window.h"
#include "trainer/model.h"

namespace forebay {

/// What a training run has done so far.
struct TrainProgress {
  std::uint64_t batches = 0;           ///< Of this run.
  std::uint64_t rows = 0;              ///< Of this run.
  Position position;                   ///< After the last batch trained on.
  LossWindow losses;                   ///< Since the start of the job.
  double loss = 0;                     ///< Of the last batch.
  std::chrono::nanoseconds elapsed{};  ///< Since the loop began.
  std::chrono::nanoseconds waited{};   ///< For data.
  std::chrono::nanoseconds stepped{};  ///< In the model.
  std::chrono::nanoseconds saved{};    ///< Held up by checkpoints as they began.
  bool stopped = false;                ///< Ended by the stop flag, before the data did.
  bool enough = false;                 ///< Ended by Options::enough.

  /// The share of the time so far that the trainer waited for data; 0 before any.
  double starved_ratio() const;
};

/// Pulls batches from a source and trains a model on them until either the source ends or a
/// flag says stop.
///
/// Owns the run's figures, nothing else. Runs on the thread that calls `run`, which is the
/// model's. Stops between two batches: a source that is told to stop too gives no more batches,
/// so a stop takes one step at most. A batch is done once the model has stepped on it.
class TrainLoop {
 public:
  /// Called with the progress so far; an error it returns ends the run.
  using Report = std::function<Status(const TrainProgress&)>;

  /// Begins a checkpoint. False: not yet, it is asked again after the next step.
  using Save = std::function<Result<bool>(const TrainProgress&)>;

  struct Options {
    Position start;     ///< Where the source starts: that of the checkpoint on a resume.
    LossWindow losses;  ///< Likewise.
    std::uint64_t max_batches = 0;                ///< Of this run; 0: no bound.
    std::chrono::nanoseconds checkpoint_every{};  ///< 0: not by time.
    std::uint64_t checkpoint_steps = 0;  ///< After batches that it divides; 0: not by number.
    Report on_step;                      ///< After every step; may be empty.
    std::function<bool()> enough;        ///< Asked before every step; may be empty.
    Save save;                           ///< When a checkpoint is due; may be empty.
  };

  TrainLoop(Model& model, BatchSource& source, const Clock& clock, Options options);

  /// Runs to the end. Fails with the source's or the model's error.
  Result<TrainProgress> run(const std::atomic<bool>& stop);

  /// How far it got, also when it failed.
  const TrainProgress& progress() const { return progress_; }

 private:
  Status train_on(const Batch& batch);
  Status save_if_due();

  Model& model_;
  BatchSource& source_;
  const Clock& clock_;
  const Options options_;
  TrainProgress progress_;
  std::chrono::nanoseconds began_{};
  std::chrono::nanoseconds last_save_{};
  bool save_due_ = false;
};

/// Scores every row of `source` and compares with the labels. Stops early, with nothing, when
/// `stop` is set.
Result<std::optional<Quality>> evaluate(Model& model, BatchSource& source, Evaluation evaluation,
                                        const std::atomic<bool>& stop);

}  // namespace forebay
