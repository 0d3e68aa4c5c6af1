#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/run_events.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/saver.h"

namespace forebay {

/// The checkpoints of a training run: the one it starts from, and the ones it saves.
///
/// Owns the store, which is null if the job keeps no checkpoints. Belongs to the model's thread. In
/// a directory with checkpoints, refuses to start unless the caller says whether to resume or
/// restart.
class Checkpointing {
 public:
  enum class Begin : std::uint8_t {
    kFresh,    ///< Refused if there are checkpoints.
    kResume,   ///< From the last complete one; from the beginning if there is none.
    kRestart,  ///< From the beginning; old checkpoints are removed once the run has begun.
  };

  /// Reports through `events`, which outlive it.
  static Result<Checkpointing> open(const JobSpec& job, Begin begin, const RunEvents& events);

  bool kept() const { return store_ != nullptr; }

  /// Fills the model from the last complete checkpoint that `accept` accepts. Returns no checkpoint
  /// if there is none or if the run starts from the beginning. Reports damaged checkpoints.
  Result<CheckpointStore::Found> restore(Model& model, const CheckpointStore::Accept& accept);
  /// To be called when the run has begun and cannot be refused any more: removes the checkpoints
  /// that a restart discards, and reports from which one a resume continues. `ended` is called on
  /// any thread when a checkpoint has ended, so that the model's calls collect().
  Status began(const Clock& clock, std::function<void()> ended = {});

  /// Starts a checkpoint in the background; returns false if one is in progress.
  bool save(Model& model, TrainState state) { return saver_->save(model, std::move(state)); }
  /// Reports the error of a checkpoint that has ended.
  void collect() { saver_->collect(); }
  /// Writes the last checkpoint, after the last step: within `run.grace` after a stop request.
  /// Reports the lost batches if the time is too short.
  Saver::Ended finish(Model& model, TrainState state);
  /// Ends after a failure at `batches` batches: only the checkpoint in progress is completed.
  Saver::Ended fail_after(std::uint64_t batches);

 private:
  Checkpointing(const JobSpec& job, const RunEvents& events)
      : events_(&events), grace_(job.run.grace) {}
  void say_what_is_lost(const Saver::Ended& ended) const;

  const RunEvents* events_;
  std::chrono::nanoseconds grace_;
  std::unique_ptr<CheckpointStore> store_;
  std::unique_ptr<Saver> saver_;  // null until the run has begun
  bool resumes_ = false;          // from an existing checkpoint
  Saver::Options from_;
  std::string begins_from_;  // reported once the run has begun; empty: a fresh start
  Begin begin_ = Begin::kFresh;
};

}  // namespace forebay
