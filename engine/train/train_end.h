#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "engine/train/train_report.h"

namespace forebay {

/// How one process's part in a training run ended.
struct TrainEnd {
  enum class How : std::uint8_t {
    kDone,
    kStopped,  ///< In order, after a stop request.
    kFailed,   ///< With `error`.
    kRefused,  ///< With `error`; nothing was trained.
  };

  How how = How::kDone;
  Error error = {};
  int signal = 0;  ///< With kStopped.
  /// Threads may be stuck in a user's function or in libtorch, where nothing can wake them: the
  /// process should end without the run's destructor.
  bool at_once = false;
  std::optional<TrainReport> report = {};  ///< Set if there is something to print.

  static TrainEnd done() { return {}; }
  static TrainEnd stopped(int by) { return {.how = How::kStopped, .signal = by}; }
  static TrainEnd failed(Error why) { return {.how = How::kFailed, .error = std::move(why)}; }
  static TrainEnd refused(Error why) { return {.how = How::kRefused, .error = std::move(why)}; }
  TrainEnd&& now() && {
    at_once = true;
    return std::move(*this);
  }
};

/// Returns the end of a run whose ranks did not meet: failed if a rank was lost or did not connect,
/// refused if ranks do not match.
TrainEnd end_of_meeting(const Error& error);

}  // namespace forebay
