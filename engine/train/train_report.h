#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/run/run_outcome.h"
#include "trainer/evaluations.h"
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
  /// Best of `evaluations` by trainer.early_stopping_metric.
  std::optional<std::uint64_t> best_step = {};
  bool stopped_early = false;
  int threads = 0;                         ///< The model's threads at the end.
  std::optional<Saver::Ended> saved = {};  ///< Absent if the job keeps no checkpoints.
};

/// Returns `AUC 0.745100, log loss 0.450100, normalized entropy 0.9010, calibration 1.002`.
std::string describe(const Quality& quality);

}  // namespace forebay
