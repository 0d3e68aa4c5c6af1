#pragma once

#include <cstdint>
#include <optional>

namespace forebay {

/// The figures of a run after a step. What there is not is left out.
struct LogLine {
  std::uint64_t step = 0;   ///< Since the job's start, as all counts.
  std::uint64_t epoch = 0;  ///< Complete ones.
  std::uint64_t rows = 0;

  std::optional<double> loss = {};  ///< Mean over the steps since the line before.
  std::optional<double> learning_rate = {};
  std::optional<double> rows_per_second =
      {};                                    ///< Since then, evaluations and checkpoints left out.
  std::optional<double> starved_ratio = {};  ///< Share of that time that was spent waiting.

  std::optional<double> auc = {};  ///< This and below: of an evaluation.
  std::optional<double> log_loss = {};
  std::optional<double> normalized_entropy = {};
  std::optional<double> calibration = {};
};

}  // namespace forebay
