#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "engine/cluster/trainer_node.h"
#include "engine/job/job_spec.h"
#include "engine/process/cpu_limit.h"
#include "engine/process/exit_status.h"
#include "engine/ranks/rank_environment.h"
#include "engine/run/job_run.h"
#include "engine/run/run_screen.h"
#include "engine/run/tuning.h"
#include "engine/train/checkpointing.h"
#include "engine/train/evaluating.h"
#include "engine/train/leading.h"
#include "engine/train/model_threads.h"
#include "engine/train/train_log.h"
#include "engine/train/train_report.h"
#include "engine/train/trained_model.h"
#include "trainer/train_loop.h"

namespace forebay {

/// One training run, from its job to its outcome.
///
/// Owns the pipeline, the model and what keeps and judges it. run() is called once, on the thread
/// that becomes the model's. What is refused is refused before anything was started or removed.
class TrainRun {
 public:
  struct Options {
    Checkpointing::Begin begin = Checkpointing::Begin::kFresh;
    TrainReport::As report = TrainReport::As::kText;
    std::optional<RankEnvironment> ranks = {};  ///< As rank 0 of several; absent: alone.
  };

  TrainRun(JobSpec job, Options options);

  Exit run();

 private:
  Status prepare();
  Status make_model();
  Status resume();
  Status go_on_from(const Checkpoint& checkpoint);
  Status is_of_this_model(const Checkpoint& checkpoint) const;
  Status begin_again();
  Status start();
  Result<TrainProgress> train(RunScreen& screen, Tuning& tuning);
  /// Evaluates when it is time.
  Status evaluate_after(const Position& position, RunScreen& screen);
  void log_step(const TrainProgress& progress, RunScreen& screen);
  TrainState state_at(const TrainProgress& progress) const;
  Result<bool> save(const TrainProgress& progress);
  void end_saving(bool trained);
  Exit finish(const TrainProgress& progress, const RunScreen& screen, const Tuning& tuning);
  /// Ends the process; nothing is left that only this run had use for.
  Exit leave_with(const Exit& exit);

  JobSpec job_;
  const Options options_;
  std::optional<Leading> leading_;  // goes last: the model tells the others through it
  TrainedModel trained_;            // goes after the pipeline, whose threads tell it of batches
  std::unique_ptr<JobRun> run_;
  std::unique_ptr<TrainerNode> cluster_;  // absent when the job has none; goes before the run
  std::optional<Evaluating> evaluating_;
  std::optional<Checkpointing> checkpoints_;
  const int first_threads_;  // that the model begins with
  std::optional<ModelThreads> threads_;
  std::optional<TrainLog> log_;
  LossWindow losses_;                          // of the run that is resumed
  std::string log_kept_;                       // likewise: TrainLog::kept
  std::chrono::nanoseconds paused_before_{0};  // before the first step
  TrainProgress reached_;
  std::optional<Saver::Ended> saved_;  // absent when the job keeps no checkpoints
};

}  // namespace forebay
