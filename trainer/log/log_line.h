#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/descriptor.h"
#include "core/base/result.h"

namespace forebay {

/// The figures of a run after a step. Absent figures are left out.
struct LogLine {
  std::uint64_t step = 0;   ///< Since the job's start, as all counts here.
  std::uint64_t epoch = 0;  ///< Complete epochs.
  std::uint64_t rows = 0;

  std::optional<double> loss = {};  ///< Mean over the steps since the previous line.
  std::optional<double> learning_rate = {};
  std::optional<double> rows_per_second =
      {};  ///< Since the previous line, without evaluations and checkpoints.
  std::optional<double> starved_ratio = {};  ///< Share of that time that was spent waiting.

  std::optional<double> auc = {};  ///< This and the figures below belong to an evaluation.
  std::optional<double> log_loss = {};
  std::optional<double> normalized_entropy = {};
  std::optional<double> calibration = {};
};

/// Writes a record behind the end of `file`, which is open at `path`, whole and at once.
Status append_record(const std::string& path, const Descriptor& file, std::string_view record);

}  // namespace forebay
