#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/ask.h"
#include "core/runtime/own_threads.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint_store.h"

namespace forebay {

/// Writes checkpoints by an actor on a thread of its own, one at a time, while training goes on.
///
/// Belongs to the model's thread; the actor has exclusive use of the store during its lifetime. A
/// snapshot is released as soon as it is written; replaced checkpoints are removed after that, and
/// only the next checkpoint and sweeping() wait for the removal. If writing throws, the checkpoint
/// ends with an error and the actor is restarted, kRestarts times; then it is gone. The destructor
/// cancels the checkpoint in flight.
class CheckpointWriter {
 public:
  static constexpr std::size_t kRestarts = 3;

  /// The result of a checkpoint.
  struct Ended {
    std::uint64_t batches = 0;
    Result<std::string> path;  ///< kTimeout: cancelled.
    std::uint64_t bytes = 0;   ///< Of the checkpoint's tensors.
    std::chrono::nanoseconds took{};
  };

  /// `on_ended` is called on the actor's thread when a result can be taken.
  CheckpointWriter(CheckpointStore& store, const Clock& clock, std::function<void()> on_ended = {});
  ~CheckpointWriter() { give_up(); }
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Blocks until no checkpoint is in flight, at most for so long; returns whether one still is.
  bool busy(std::chrono::nanoseconds at_most = {}) const {
    return written_ && !written_->ready(at_most);
  }
  /// Begins the next checkpoint. Requires that none is in flight and that the last result was
  /// taken.
  void begin(std::unique_ptr<StateSource> state, TrainState beside);
  /// Returns the result of the checkpoint that ended, once.
  std::optional<Ended> take();
  /// Whether writing threw too often: every further checkpoint would end with an error.
  bool gone() const { return crashes_ > kRestarts; }

  /// Of the checkpoint whose result was not taken yet: bytes of its tensors, bytes written, and the
  /// time since its begin.
  struct Progress {
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
    std::chrono::nanoseconds taken{};
  };
  Progress progress() const;

  /// Blocks until the checkpoints that the last one replaced are removed, at most for so long;
  /// returns whether they are still being removed.
  bool sweeping(std::chrono::nanoseconds at_most) const {
    return swept_ && !swept_->ready(at_most);
  }
  /// Cancels the checkpoint in flight; it ends soon, unwritten.
  void give_up();

 private:
  struct Write;
  struct Sweep;
  class Writing;
  /// What the model's thread and the actor tell each other while a checkpoint is written: a message
  /// would not overtake the one that is being handled.
  struct Task {
    std::uint64_t batches = 0;
    std::uint64_t bytes = 0;
    std::chrono::nanoseconds began{};
    std::atomic<std::uint64_t> written{0};
    std::atomic<bool> given_up{false};
    std::optional<std::chrono::nanoseconds> ended{};  ///< Absent until the answer: writing threw.
  };

  const CheckpointStore& store_;
  const Clock& clock_;
  const std::function<void()> on_ended_;
  std::shared_ptr<Task> task_;          // null: every result was taken
  std::weak_ptr<StateSource> reading_;  // of the task, until it is written
  std::optional<Answer<std::string>> written_;
  std::optional<Answer<void>> swept_;
  std::atomic<std::size_t> crashes_{0};
  OwnThreads threads_;
  const ActorRef<Write, Sweep> actor_;
};

/// The state of a run that has to end soon while its last batches are in no checkpoint yet.
struct LastSaveQuestion {
  std::uint64_t bytes = 0;          ///< Of one checkpoint.
  std::uint64_t bytes_left = 0;     ///< Of the checkpoint in flight; 0: there is none.
  double bytes_per_second = 0;      ///< As measured; 0: not measured yet.
  std::chrono::nanoseconds left{};  ///< Until the run is ended from outside.
};

/// The action that loses the fewest batches.
enum class LastSave : std::uint8_t {
  kWaitAndWrite,  ///< Finish the checkpoint in flight, then write the last one.
  kWrite,         ///< Cancel the checkpoint in flight and write the last one.
  kWait,          ///< Only the checkpoint in flight can finish in time.
  kNothing,       ///< No checkpoint can finish in time: the last complete one remains.
};

/// Plans to write if the speed is unknown; the writer cancels in time.
LastSave plan_last_save(const LastSaveQuestion& question);

/// The time to write so many bytes; empty if the speed is unknown.
std::optional<std::chrono::nanoseconds> time_to_write(std::uint64_t bytes, double bytes_per_second);

/// Saves a training run: in the background while it trains, and at its end.
///
/// A checkpoint that cannot be written (the disk is full, the model gives no state, writing throws)
/// is reported and does not end the run; the last complete one remains, and the next is written
/// when it is due, unless writing threw more often than CheckpointWriter::kRestarts. Belongs to the
/// model's thread; the model outlives it.
class Saver {
 public:
  struct Options {
    std::function<void(const std::string&)> say = {};
    /// Returns how long the process may go on; empty: no limit.
    std::function<std::optional<std::chrono::nanoseconds>()> time_left = {};
    /// Called on the writer's thread when a checkpoint has ended: collect() is worth a call.
    std::function<void()> on_ended = {};
    std::string checkpoint = {};  ///< The checkpoint that the run continues from; "": none.
    std::uint64_t batches = 0;    ///< Batches in that checkpoint.
  };

  Saver(CheckpointStore& store, const Clock& clock, Options options);

  /// Begins a checkpoint of the model's current state, unless no more are written or the model
  /// gives no state, which is reported. False: another is in flight, call it again later.
  bool save(Model& model, TrainState beside);

  /// Takes the result of a checkpoint that has ended since the last call, and reports its error.
  /// All other functions do so, too, but for the last checkpoint: finish() returns its error.
  void collect();

  struct Ended {
    std::string checkpoint;          ///< The last complete checkpoint; "": none.
    std::uint64_t batches_lost = 0;  ///< Batches trained on after it.
    Status written;           ///< The error of the last checkpoint, unless it ran out of time.
    std::uint64_t bytes = 0;  ///< Of one checkpoint.
    std::optional<std::chrono::nanoseconds> takes = {};  ///< Time to write one, as measured.
  };
  /// Writes the last checkpoint, if there is time, and waits for it. No checkpoint is in flight
  /// afterwards, and the replaced checkpoints are removed, if there is time.
  Ended finish(Model& model, TrainState beside);
  /// Ends the checkpoint in flight, without a last one: the run failed after `batches`.
  Ended fail_after(std::uint64_t batches);

 private:
  void refuse(Error error);
  bool take_result();
  void settle();
  bool last_one_fits() const;
  void tidy();
  void write_last(Model& model, TrainState beside);
  std::optional<std::chrono::nanoseconds> time_left() const {
    return options_.time_left ? options_.time_left() : std::nullopt;
  }
  Ended ended_after(std::uint64_t batches);

  CheckpointStore& store_;
  const Options options_;
  std::string checkpoint_;
  std::uint64_t batches_;
  std::uint64_t bytes_ = 0;      // of the last checkpoint begun
  double bytes_per_second_ = 0;  // of the last checkpoint written
  Status written_;               // error of the last checkpoint begun, unless it ran out of time
  CheckpointWriter writer_;
};

}  // namespace forebay
