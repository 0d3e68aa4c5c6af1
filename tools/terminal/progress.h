#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/metrics/stage_view.h"

namespace forebay {

/// Values of the progress line at one moment. Shares and rates are of the time since the last line.
struct ProgressView {
  std::uint64_t rows = 0;
  std::optional<std::uint64_t> rows_wanted;  ///< Rows of the whole run; absent if unknown.
  double rows_per_second = 0;
  double starved_ratio = 0;
  /// Share of the table lookups whose row had been fetched when its step could begin; absent if
  /// tables do not prefetch.
  std::optional<double> lookups_ready = {};
  std::uint64_t memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::vector<StageView> stages = {};
  std::string tuner = {};  ///< Description of the tuner's last decision; empty: none yet.
};

/// Returns one line: `1,200,000 of 4,000,000 rows (30 %), 410 k rows/s, starved 3 %, rows ready
/// 99.8 %, 312 MiB of 400 MiB | load 1×12 % decode 2×98 % … | 7 s left | transform 1 -> 3: …`. The
/// share after a stage's actors is how busy they are; the line ends with the tuner's last decision
/// and its reason.
std::string format_progress(const ProgressView& view);

/// Returns `line` cut to `columns` characters, for a terminal.
std::string fit_line(const std::string& line, std::size_t columns);

/// Formats the progress of indexing, of one dataset after another.
///
/// A dataset's rate counts from its first bytes on, so listings, heads and datasets before it do
/// not slow it. Time comes from outside. One thread at a time.
class IndexingProgress {
 public:
  /// Takes the bytes that have been read; fewer than before begin another dataset.
  void add(std::uint64_t done, std::uint64_t total, std::chrono::nanoseconds now);
  /// Returns `indexed 1.2 GiB of 4 GiB (30 %), 410 MiB/s | 7.0 s left`, with rate and time where
  /// they are known.
  std::string line(std::chrono::nanoseconds now) const;

 private:
  std::uint64_t done_ = 0;
  std::uint64_t total_ = 0;
  std::optional<std::chrono::nanoseconds> began_;  // when the first bytes had been read
  std::uint64_t done_then_ = 0;
};

/// A command's progress on stderr: one live line on a terminal, otherwise a plain line every few
/// seconds. One thread.
class StatusLine {
 public:
  StatusLine();
  ~StatusLine() { clear(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  /// Whether lines go to a terminal.
  bool on_terminal() const { return on_terminal_; }
  /// Returns whether a line is due; call it before formatting one.
  bool is_due() const;
  void show(const std::string& line);
  /// Removes the live line.
  void clear();

 private:
  const bool on_terminal_;
  bool shown_ = false;
  std::chrono::steady_clock::time_point shown_at_;
};

}  // namespace forebay
