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

/// What a training run has to say at its end.
struct TrainReport {
  RunOutcome outcome;
  bool learns = false;  ///< The model has a loss.
  std::optional<double> loss;
  LookupCounts lookups = {};                ///< Of table rows in the steps.
  std::optional<Quality> quality = {};      ///< At the end; absent when nothing was evaluated.
  std::vector<Evaluated> evaluations = {};  ///< All since the job's start, the last one included.
  std::optional<std::uint64_t> best_step = {};  ///< Of them; trainer.early_stopping_metric tells.
  bool stopped_early = false;
  int threads = 0;                         ///< The model's, at the end.
  std::optional<Saver::Ended> saved = {};  ///< Absent when the job keeps no checkpoints.
};

/// `AUC 0.745100, log loss 0.450100, normalized entropy 0.9010, calibration 1.002`.
std::string describe(const Quality& quality);

}  // namespace forebay
