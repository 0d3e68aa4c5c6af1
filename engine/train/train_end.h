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
    kStopped,  ///< As was asked for, in order.
    kFailed,   ///< With `error`.
    kRefused,  ///< With `error`; nothing was trained.
  };

  How how = How::kDone;
  Error error = {};
  int signal = 0;  ///< Of kStopped.
  /// Threads may be stuck where nothing reaches them, in a user's function or in libtorch: the
  /// process should end without the run's destructor.
  bool at_once = false;
  std::optional<TrainReport> report = {};  ///< Where there is something to print.

  static TrainEnd done() { return {}; }
  static TrainEnd stopped(int by) { return {.how = How::kStopped, .signal = by}; }
  static TrainEnd failed(Error why) { return {.how = How::kFailed, .error = std::move(why)}; }
  static TrainEnd refused(Error why) { return {.how = How::kRefused, .error = std::move(why)}; }
  TrainEnd&& now() && {
    at_once = true;
    return std::move(*this);
  }
};

/// Of a run whose ranks did not meet: failed where a rank was lost or did not come, refused where
/// they do not fit together.
TrainEnd end_of_meeting(const Error& error);

}  // namespace forebay
