#pragma once

#include <atomic>
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

/// Formats the progress of indexing: no line for the first seconds, then one every few seconds.
///
/// Time comes from outside. Any thread may call it.
class IndexingProgress {
 public:
  static constexpr std::chrono::seconds kPeriod{3};

  explicit IndexingProgress(std::chrono::nanoseconds now) : began_(now), last_ns_(now.count()) {}

  /// Returns `indexed 1.2 GiB of 4 GiB (30 %), 7.0 s left` if a line is due.
  std::optional<std::string> line(std::uint64_t done, std::uint64_t total,
                                  std::chrono::nanoseconds now);

 private:
  const std::chrono::nanoseconds began_;
  std::atomic<std::int64_t> last_ns_;
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
