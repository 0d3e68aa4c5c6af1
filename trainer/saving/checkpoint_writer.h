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
#include "core/runtime/thread.h"
#include "trainer/checkpoint.h"

namespace forebay {

/// Writes checkpoints by a thread of its own, one at a time, while training goes on.
///
/// Belongs to the model's thread; the store is the writer's as long as it lives. A snapshot is let
/// go as soon as it is written; what the checkpoint replaces is removed after that, and only the
/// next one and wait_swept() wait for it. What is in flight when the writer dies is given up.
class CheckpointWriter {
 public:
  /// What became of a checkpoint.
  struct Ended {
    std::uint64_t batches = 0;
    Result<std::string> path;  ///< kTimeout: given up.
    std::uint64_t bytes = 0;   ///< Of its tensors.
    std::chrono::nanoseconds took{};
  };

  CheckpointWriter(CheckpointStore& store, const Clock& clock);
  ~CheckpointWriter();
  CheckpointWriter(const CheckpointWriter&) = delete;
  CheckpointWriter& operator=(const CheckpointWriter&) = delete;

  bool busy() const;
  /// Begins the next one; not while one is in flight, nor before its end was taken.
  void begin(std::unique_ptr<StateSource> state, TrainState beside);
  /// What ended, once.
  std::optional<Ended> take();

  /// Of the one in flight: its tensors, what of them is written, and for how long it is at it.
  struct Progress {
    std::uint64_t bytes = 0;
    std::uint64_t written = 0;
    std::chrono::nanoseconds taken{};
  };
  Progress progress() const;

  /// Until nothing is in flight, at most for so long.
  void wait(std::chrono::nanoseconds at_most);
  /// Whether what the last checkpoint replaced is still being removed.
  bool sweeping() const;
  /// Until it is removed, at most for so long.
  void wait_swept(std::chrono::nanoseconds at_most);
  /// What is in flight ends soon, unwritten.
  void give_up();

 private:
  void run();
  void write(std::unique_lock<std::mutex>& lock);
  bool go_on(std::uint64_t written);

  CheckpointStore& store_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<StateSource> state_;  // of the one in flight, until it is taken up
  StateSource* reading_ = nullptr;      // likewise, from then on
  TrainState beside_;
  bool in_flight_ = false;
  bool given_up_ = false;
  bool sweeping_ = false;
  bool ends_ = false;  // the writer itself
  Progress progress_;
  std::chrono::nanoseconds began_{};
  std::optional<Ended> ended_;
  Thread thread_;  // last: it uses all of the above
};

}  // namespace forebay
