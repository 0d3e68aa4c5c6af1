#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "trainer/checkpoint.h"
#include "trainer/model.h"
#include "trainer/saving/checkpoint_writer.h"

namespace forebay {

/// Saves a training run: in the background while it goes on, and at its end.
///
/// A checkpoint that cannot be written (the disk is full) is told of and ends nothing but itself;
/// the last complete one stands, and the next is tried when it is due. Belongs to the model's
/// thread; the model outlives it.
class Saver {
 public:
  struct Options {
    std::function<void(const std::string&)> say = {};
    /// How long the process may go on; nothing: as long as it wants.
    std::function<std::optional<std::chrono::nanoseconds>()> time_left = {};
    std::string checkpoint = {};  ///< The one the run goes on from; "": none.
    std::uint64_t batches = 0;    ///< In it.
  };

  Saver(CheckpointStore& store, const Clock& clock, Options options);

  /// Begins a checkpoint of the model as it is. False: one is in flight, it has to be asked again.
  Result<bool> save(Model& model, TrainState beside);

  struct Ended {
    std::string checkpoint;          ///< The last complete one; "": none.
    std::uint64_t batches_lost = 0;  ///< Trained on after it.
    Status written;                  ///< Why the last one was not, other than for lack of time.
    std::uint64_t bytes = 0;         ///< Of a checkpoint.
    std::optional<std::chrono::nanoseconds> takes = {};  ///< As measured, or so long it took.
  };
  /// Writes the last checkpoint, if there is time; waits for it. Nothing is in flight after it, and
  /// what checkpoints replaced is removed, if there is time for that.
  Ended finish(Model& model, TrainState beside);
  /// Ends what is in flight, without a last one: the run failed after `batches`.
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
  std::uint64_t bytes_ = 0;      // of the last one begun
  double bytes_per_second_ = 0;  // of the last one written
  Status written_;               // whether the last one begun was, but for lack of time
  CheckpointWriter writer_;
};

}  // namespace forebay
