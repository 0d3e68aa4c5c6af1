#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/data/most_ids.h"
#include "core/runtime/actor_ref.h"
#include "core/runtime/own_threads.h"
#include "engine/job/job_spec.h"
#include "engine/process/stop_source.h"
#include "engine/ranks/rank_environment.h"
#include "engine/run/run_events.h"
#include "engine/session/session.h"
#include "engine/train/checkpointing.h"
#include "engine/train/evaluating.h"
#include "engine/train/model_threads.h"
#include "engine/train/train_log.h"
#include "engine/train/train_report.h"
#include "engine/train/trained_model.h"
#include "engine/train/training_ranks.h"
#include "trainer/train_loop.h"

namespace forebay {

/// One training run, from its job to its outcome.
///
/// Owns the trainer: an actor on a thread of its own, on which the session, the model, its
/// checkpoints and its evaluation are made, used and destroyed. It takes a step a message and sends
/// itself the next one, so that it handles others between two steps; it is never restarted, since
/// its state is the run's. run() is called once, and its caller waits for the trainer's answer.
/// Every refusal happens before anything was started or removed.
class TrainRun {
 public:
  struct Options {
    Checkpointing::Begin begin = Checkpointing::Begin::kFresh;
    std::optional<RankEnvironment> ranks = {};  ///< Set for rank 0 of several ranks.
    RunEvents events = {};
    /// Of Session::Options.
    std::string index_of = {};
  };

  TrainRun(JobSpec job, Options options);
  ~TrainRun();
  TrainRun(const TrainRun&) = delete;
  TrainRun& operator=(const TrainRun&) = delete;

  const JobSpec& job() const { return job_; }

  TrainEnd run();

 private:
  struct Begin;
  struct Step;
  struct CheckpointEnded;
  struct SetThreads;
  class Trainer;

  /// Everything before the first step. Returns the end of a run that cannot begin.
  std::optional<TrainEnd> begin();
  Status begin_training();
  /// Trains on the next batch. Returns the end of a run that ended.
  std::optional<TrainEnd> step();
  TrainEnd end(const Status& trained);
  /// Destroys all that begin() made.
  void let_go();
  Status prepare();
  Status make_model();
  Status resume();
  Status go_on_from(const Checkpoint& checkpoint);
  Status is_of_this_model(const Checkpoint& checkpoint) const;
  Status begin_again();
  Status start();
  TrainEnd end_unprepared(const Error& why);
  /// Evaluates the model if an evaluation is due.
  Status evaluate_after(const Position& position);
  void log_step(const TrainProgress& progress);
  void show_tables();
  void record(std::uint64_t step, const Quality& quality);
  TrainState state_at(const TrainProgress& progress) const;
  bool save(const TrainProgress& progress);
  void end_saving(bool trained);
  TrainEnd finish(const TrainProgress& progress);
  std::string how_to_evaluate_later() const;
  Status evaluate_at_end(const Position& position, TrainReport& report);
  /// Records how the run ended.
  TrainEnd finished(TrainEnd end);
  /// Removes files that only this run needs, and writes the log.
  TrainEnd end_with(TrainEnd end);
  JobRun& job_run() { return session_->run(); }
  const JobRun& job_run() const { return session_->run(); }

  JobSpec job_;
  StopSource nobody_;  // used if `events` has no stop source
  const Options options_;
  StopSource& stop_;
  std::optional<Leading> leading_;  // destroyed last: the model sends commands through it
  MostIds most_ids_;                // of a batch, once the run is open
  TrainedModel trained_;  // destroyed after the pipeline, whose threads pass batches to it
  std::unique_ptr<Session> session_;
  std::optional<Evaluating> evaluating_;
  std::optional<Checkpointing> checkpoints_;
  const int first_threads_;  // the model's threads at the start
  std::optional<ModelThreads> threads_;
  std::optional<TrainLog> log_;
  std::optional<TrainLoop> loop_;
  LossWindow losses_;                          // of the resumed run
  std::string log_kept_;                       // of the resumed run: TrainLog::kept
  std::chrono::nanoseconds paused_before_{0};  // before the first step
  std::chrono::nanoseconds tables_shown_{0};
  TrainProgress reached_;
  std::optional<Saver::Ended> saved_;  // absent if the job keeps no checkpoints
  Error crash_;                        // of the trainer, once it has one
  SystemClock clock_;
  OwnThreads actors_;  // destroyed first: the trainer uses all of the above
  ActorRef<Begin, Step, CheckpointEnded, SetThreads> trainer_;
};

}  // namespace forebay
