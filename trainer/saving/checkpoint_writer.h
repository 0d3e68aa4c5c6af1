#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/base/start_thread.h"
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

  CheckpointWriter(CheckpointStore& store, const Clock& clock);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  /// Blocks until no checkpoint is in flight, at most for so long; returns whether one still is.
  bool busy(std::chrono::nanoseconds at_most = {}) const;
  /// Begins the next checkpoint. Requires that none is in flight and that the last result was
  /// taken.
  void begin(std::unique_ptr<StateSource> state, TrainState beside);
  /// Returns the result of the checkpoint that ended, once.
  std::optional<Ended> take();

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
  bool sweeping(std::chrono::nanoseconds at_most) const;
  /// Cancels the checkpoint in flight; it ends soon, unwritten.
  void give_up();

 private:
  void run();
  void write(std::unique_lock<std::mutex>& lock);
  bool go_on(std::uint64_t written);

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

}  // namespace forebay
