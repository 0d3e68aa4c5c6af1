#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/model.h"

namespace forebay {

/// The mean loss over the last 1 % of all steps since the start, at least one.
///
/// Keeps only the losses of that 1 %: the window's first step never moves back.
class LossWindow {
 public:
  LossWindow() = default;
  /// Continues after `steps` steps; `last` are the losses of their last 1 %.
  LossWindow(std::uint64_t steps, std::deque<double> last)
      : steps_(steps), last_(std::move(last)) {}

  static std::uint64_t size_after(std::uint64_t steps) {
    return steps == 0 ? 0 : steps < 200 ? 1 : steps / 100;
  }

  void add(double loss) {
    ++steps_;
    last_.push_back(loss);
    if (last_.size() > size_after(steps_)) last_.pop_front();
  }
  /// Empty before the first step.
  std::optional<double> mean() const {
    if (last_.empty()) return std::nullopt;
    return std::accumulate(last_.begin(), last_.end(), 0.0) / static_cast<double>(last_.size());
  }

  std::uint64_t steps() const { return steps_; }
  const std::deque<double>& last() const { return last_; }

  bool operator==(const LossWindow&) const = default;

 private:
  std::uint64_t steps_ = 0;
  std::deque<double> last_;
};

/// The progress of a training run.
struct TrainProgress {
  std::uint64_t batches = 0;           ///< Of this run.
  std::uint64_t rows = 0;              ///< Of this run.
  Position position;                   ///< After the last batch trained on.
  LossWindow losses;                   ///< Since the start of the job.
  double loss = 0;                     ///< Of the last batch.
  std::chrono::nanoseconds elapsed{};  ///< Since the loop began.
  std::chrono::nanoseconds waited{};   ///< Time spent waiting for data.
  std::chrono::nanoseconds stepped{};  ///< Time spent in the model.
  std::chrono::nanoseconds saved{};    ///< Time spent on the begin of checkpoints.
  bool stopped = false;                ///< Ended by the stop flag, before the data ended.
  bool enough = false;                 ///< Ended by Options::enough.

  /// The share of the time so far that the trainer waited for data; 0 at the start.
  double starved_ratio() const {
    if (elapsed.count() <= 0) return 0;
    return static_cast<double>(waited.count()) / static_cast<double>(elapsed.count());
  }
};

/// Pulls batches from a source and trains a model on them until the source ends or a flag stops it.
///
/// Owns the run's figures only. Runs on the thread that calls it, which is the model's. Stops
/// between two batches; the source must be stopped as well, so that it returns no more batches, and
/// a stop then takes one step at most. A batch is done once the model has stepped on it.
class TrainLoop {
 public:
  /// Called with the progress so far; an error that it returns ends the run.
  using Report = std::function<Status(const TrainProgress&)>;

  /// Begins a checkpoint. False: not yet; it is called again after the next step.
  using Save = std::function<bool(const TrainProgress&)>;

  struct Options {
    Position start;     ///< Where the source starts: the checkpoint's position on a resume.
    LossWindow losses;  ///< The losses before the start: the checkpoint's on a resume.
    std::uint64_t max_batches = 0;                ///< Of this run; 0: no bound.
    std::chrono::nanoseconds checkpoint_every{};  ///< 0: not by time.
    std::uint64_t checkpoint_steps = 0;  ///< After batches that it divides; 0: not by number.
    Report on_step;                      ///< After every step; may be empty.
    std::function<bool()> enough;        ///< Called before every step; may be empty.
    Save save;                           ///< Called when a checkpoint is due; may be empty.
  };

  TrainLoop(Model& model, BatchSource& source, const Clock& clock, Options options);

  /// Starts the run's clock.
  void begin() { began_ = last_save_ = clock_.now(); }
  /// Waits for the next batch and trains on it. False: the run has ended. Returns the source's or
  /// the model's error.
  Result<bool> step(const std::atomic<bool>& stop);

  /// Runs from the begin to the end.
  Result<TrainProgress> run(const std::atomic<bool>& stop);

  /// The progress so far, also after an error.
  const TrainProgress& progress() const { return progress_; }

 private:
  bool end(bool stopped);
  Status train_on(const Batch& batch);
  void save_if_due();

  Model& model_;
  BatchSource& source_;
  const Clock& clock_;
  const Options options_;
  TrainProgress progress_;
  std::chrono::nanoseconds began_{};
  std::chrono::nanoseconds last_save_{};
  bool save_due_ = false;
};

/// Scores every row of `source` and compares the scores with the labels. Stops early and returns
/// nothing if `stop` is set.
Result<std::optional<Quality>> evaluate(Model& model, BatchSource& source, Evaluation evaluation,
                                        const std::atomic<bool>& stop);

}  // namespace forebay
