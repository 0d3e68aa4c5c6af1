#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/thread/start_thread.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint_store.h"

namespace forebay {

/// Writes checkpoints on its own thread, one at a time, while training goes on.
///
/// Belongs to the model's thread; the writer has exclusive use of the store during its lifetime. A
/// snapshot is released as soon as it is written; replaced checkpoints are removed after that, and
/// only the next checkpoint and wait_swept() wait for the removal. The destructor cancels the
/// checkpoint in flight.
class CheckpointWriter {
 public:
  /// The result of a checkpoint.
  struct Ended {
    std::uint64_t batches = 0;
    Result<std::string> path;  ///< kTimeout: cancelled.
    std::uint64_t bytes = 0;   ///< Of the checkpoint's tensors.
    std::chrono::nanoseconds took{};
  };

  CheckpointWriter(CheckpointStore& store, const Clock& clock)
      : store_(store), clock_(clock), thread_({.name = "checkpoints"}, [this] { run(); }) {}
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Blocks until no checkpoint is in flight, at most for so long; returns whether one still is.
  bool busy(std::chrono::nanoseconds at_most = {}) const;
  /// Begins the next checkpoint. Requires that none is in flight and that the last result was
  /// taken.
  void begin(std::unique_ptr<StateSource> state, TrainState beside);
  /// Returns the result of the checkpoint that ended, once.
  std::optional<Ended> take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(ended_, std::nullopt);
  }

  /// Of the checkpoint in flight: bytes of its tensors, bytes written, and the time since its
  /// begin.
  struct Progress {
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
    std::chrono::nanoseconds taken{};
  };
  Progress progress() const;

  /// Blocks until the checkpoints that the last one replaced are removed, at most for so long;
  /// returns whether they are still being removed.
  bool sweeping(std::chrono::nanoseconds at_most) const {
    std::unique_lock lock(mutex_);
    return !changed_.wait_for(lock, at_most, [this] { return !sweeping_; });
  }
  /// Cancels the checkpoint in flight; it ends soon, unwritten.
  void give_up();

 private:
  void run();
  void write(std::unique_lock<std::mutex>& lock);

  CheckpointStore& store_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::unique_ptr<StateSource> state_;  // of the checkpoint in flight, until the thread takes it
  StateSource* reading_ = nullptr;      // the snapshot that the thread reads
  TrainState beside_;
  bool in_flight_ = false;
  bool given_up_ = false;
  bool sweeping_ = false;
  bool ends_ = false;  // ends the thread
  Progress progress_;
  std::chrono::nanoseconds began_{};
  std::optional<Ended> ended_;
  Thread thread_;  // last: it uses all of the above
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
/// A checkpoint that cannot be written (the disk is full) is reported and does not end the run; the
/// last complete one remains, and the next is written when it is due. Belongs to the model's
/// thread; the model outlives it.
class Saver {
 public:
  struct Options {
    std::function<void(const std::string&)> say = {};
    /// Returns how long the process may go on; empty: no limit.
    std::function<std::optional<std::chrono::nanoseconds>()> time_left = {};
    std::string checkpoint = {};  ///< The checkpoint that the run continues from; "": none.
    std::uint64_t batches = 0;    ///< Batches in that checkpoint.
  };

  Saver(CheckpointStore& store, const Clock& clock, Options options);

  /// Begins a checkpoint of the model's current state. False: another is in flight, call it again
  /// later.
  Result<bool> save(Model& model, TrainState beside);

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
  void collect();
  void settle();
  bool last_one_fits() const;
  void tidy();
  void write_last(Model& model, TrainState beside);
  std::optional<std::chrono::nanoseconds> time_left() const {
    return options_.time_left ? options_.time_left() : std::nullopt;
  }
  Ended ended_after(std::uint64_t batches);

  const Options options_;
  std::string checkpoint_;
  std::uint64_t batches_;
  std::uint64_t bytes_ = 0;      // of the last checkpoint begun
  double bytes_per_second_ = 0;  // of the last checkpoint written
  Status written_;               // error of the last checkpoint begun, unless it ran out of time
  CheckpointWriter writer_;
};

}  // namespace forebay
