#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/result.h"
#include "engine/job/job_spec.h"
#include "engine/run/run_events.h"
#include "trainer/checkpoint.h"
#include "trainer/model.h"
#include "trainer/saving/saver.h"

namespace forebay {

/// The checkpoints of a training run: what it begins from, and where it saves.
///
/// Owns the store; absent where the job keeps none. Belongs to the model's thread. Refuses to
/// begin anew in a directory that holds checkpoints unless it is told what to do with them.
class Checkpointing {
 public:
  enum class Begin : std::uint8_t {
    kFresh,    ///< Refused where there are checkpoints.
    kResume,   ///< From the last complete one; anew where there is none.
    kRestart,  ///< Anew; what is there goes once the run has begun.
  };

  /// Speaks by `events`, which outlive it.
  static Result<Checkpointing> open(const JobSpec& job, Begin begin, const RunEvents& events);

  bool kept() const { return store_ != nullptr; }

  /// Fills the model from the last whole checkpoint, once `accept` agrees to it; without one, or
  /// when the run begins anew, there is none in what it gives. Says which checkpoints
  /// are damaged.
  Result<CheckpointStore::Found> restore(Model& model, const CheckpointStore::Accept& accept);
  /// The run has begun, and nothing can refuse it any more: what a restart does not want goes, and
  /// it is said what a resume goes on from.
  Status began(const Clock& clock);

  /// Begins a checkpoint in the background; false: one is in flight.
  Result<bool> save(Model& model, TrainState state) {
    return saver_->save(model, std::move(state));
  }
  /// Writes the last one, once it is known that no further step will be: within `run.grace` of a
  /// stop that is asked for. Says which batches are lost where it does not fit.
  Saver::Ended finish(Model& model, TrainState state);
  /// The run failed after so many batches: only what is in flight ends.
  Saver::Ended fail_after(std::uint64_t batches);

 private:
  Checkpointing(const JobSpec& job, const RunEvents& events)
      : events_(&events), grace_(job.run.grace) {}
  void say_what_is_lost(const Saver::Ended& ended) const;

  const RunEvents* events_;
  std::chrono::nanoseconds grace_;
  std::unique_ptr<CheckpointStore> store_;
  std::unique_ptr<Saver> saver_;  // once it has begun
  bool resumes_ = false;          // from one of those there are
  Saver::Options from_;
  std::string begins_from_;  // said once it has begun; empty: a fresh start
  Begin begin_ = Begin::kFresh;
};

}  // namespace forebay
