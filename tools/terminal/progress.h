#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tools/terminal/stage_view.h"

namespace forebay {

/// A run at one moment, as the progress line shows it. Shares and rates are of the time since the
/// last line.
struct ProgressView {
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> rows_wanted;  ///< Of the whole run; absent when it is not known.
  double rows_per_second = 0;
  double starved_ratio = 0;
  /// Of table lookups, those whose row had been fetched by the time its step could begin; absent
  /// where tables do not look ahead.
  std::optional<double> lookups_ready = {};
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::vector<StageView> stages = {};
  std::string tuner = {};  ///< What the tuner decided last, and why; empty: nothing.
};

/// One line: `1,200,000 of 4,000,000 rows (30 %), 410 k rows/s, starved 3 %, rows ready 99.8 %,
/// 312 MiB of 400 MiB | load 1×12 % decode 2×98 % … | 7 s left | transform 1 -> 3: …`. The share
/// behind a stage is how busy its actors are; at the end stands what the tuner decided last, and
/// why.
std::string format_progress(const ProgressView& view);

/// `line` cut to `columns` characters, for a terminal.
std::string fit_line(const std::string& line, std::size_t columns);

}  // namespace forebay
