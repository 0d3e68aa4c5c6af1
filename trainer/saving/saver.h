#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint_store.h"
#include "trainer/saving/checkpoint_writer.h"

namespace forebay {

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
  std::optional<std::chrono::nanoseconds> time_left() const;
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
