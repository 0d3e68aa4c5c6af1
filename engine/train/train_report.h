#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "engine/run/run_outcome.h"
#include "trainer/evaluation/evaluation.h"
#include "trainer/model.h"
#include "trainer/saving/saver.h"

namespace forebay {

/// The results of a training run.
struct TrainReport {
  RunOutcome outcome;
  bool learns = false;  ///< The model has a loss.
  std::optional<double> loss;
  LookupCounts lookups = {};            ///< Lookups of table rows in the steps.
  std::optional<Quality> quality = {};  ///< At the end; absent if nothing was evaluated.
  /// All since the job's start, including the last one.
  std::vector<Evaluated> evaluations = {};
  std::string evaluation_quarantine = {};  ///< The file of their damaged rows; may not exist.
  /// Best of `evaluations` by trainer.early_stopping_metric.
  std::optional<std::uint64_t> best_step = {};
  bool stopped_early = false;
  int threads = 0;                         ///< The model's threads at the end.
  std::optional<Saver::Ended> saved = {};  ///< Absent if the job keeps no checkpoints.
};

/// Returns `AUC 0.745100, log loss 0.450100, normalized entropy 0.9010, calibration 1.002`.
std::string describe(const Quality& quality);

/// What a rank beside rank 0 did in a training run.
struct RankReport {
  int rank = 0;
  int ranks = 0;
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
};

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

/// Returns `done`, `stopped`, `failed` or `refused`.
std::string_view describe(TrainEnd::How how);

/// Returns the end of a run whose ranks did not meet: failed if a rank was lost or did not connect,
/// refused if ranks do not match.
TrainEnd end_of_meeting(const Error& error);

}  // namespace forebay
