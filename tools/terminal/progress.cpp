#include "tools/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/base/text/printable.h"
#include "core/base/text/utf8.h"
#include "engine/job/quantity.h"
#include "tools/process/standard_streams.h"

namespace forebay {
namespace {

/// Rounds down: 100.0 % means all.
std::string tenths(double share) {
  const auto tenths = static_cast<std::uint64_t>(share * 1000);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
}

std::string rate(double rows_per_second) {
  const auto rows = static_cast<std::uint64_t>(rows_per_second);
  return rows < 100'000 ? format_count(rows) : format_count(rows / 1000) + " k";
}

/// Returns ` | 7.0 s left`, or nothing if `left` rows or bytes would take for ever or no time.
std::string time_left(std::uint64_t left, double per_second) {
  if (left == 0 || per_second < 1) return "";
  const double seconds = static_cast<double>(left) / per_second;
  constexpr double kMost = 1e9;
  if (seconds > kMost) return "";
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(seconds * 1e9));
  return " | " + format_duration(time) + " left";
}

constexpr std::chrono::milliseconds kBetweenLiveLines{200};
constexpr std::chrono::seconds kBetweenPlainLines{5};

std::size_t terminal_columns() {
  winsize size = {};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

}  // namespace

std::string format_progress(const ProgressView& view) {
  std::string line = format_count(view.rows);
  if (view.rows_wanted && *view.rows_wanted > 0) {
    line +=
        " of " + format_count(*view.rows_wanted) + " rows (" +
        format_percent(static_cast<double>(view.rows) / static_cast<double>(*view.rows_wanted)) +
        ")";
  } else {
    line += " rows";
  }
  line +=
      ", " + rate(view.rows_per_second) + " rows/s, starved " + format_percent(view.starved_ratio);
  if (view.lookups_ready) line += ", rows ready " + tenths(*view.lookups_ready);
  line += ", " + format_size(view.memory_bytes) + " of " + format_size(view.memory_limit) + " |";
  for (const StageView& stage : view.stages) {
    line += " " + stage.name + " " + std::to_string(stage.actors) + "×" +
            format_percent(stage.busy_share);
  }
  const std::uint64_t wanted = view.rows_wanted.value_or(0);
  line += time_left(wanted - std::min(wanted, view.rows), view.rows_per_second);
  return line + (view.tuner.empty() ? "" : " | " + view.tuner);
}

std::string fit_line(const std::string& line, std::size_t columns) {
  std::size_t shown = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (continues_character(line[at])) continue;
    if (shown++ == columns) return line.substr(0, at);
  }
  return line;
}

void IndexingProgress::add(std::uint64_t done, std::uint64_t total, std::chrono::nanoseconds now) {
  if (done < done_) began_.reset();
  if (!began_ && done > 0) {
    began_ = now;
    done_then_ = done;
  }
  done_ = done;
  total_ = total;
}

std::string IndexingProgress::line(std::chrono::nanoseconds now) const {
  if (done_ == 0 || total_ == 0) return "indexing " + format_size(total_);
  const double share = std::min(1.0, static_cast<double>(done_) / static_cast<double>(total_));
  std::string line = "indexed " + format_size(done_) + " of " + format_size(total_) + " (" +
                     std::to_string(static_cast<int>(share * 100)) + " %)";
  if (now <= *began_ || done_ == done_then_) return line;
  const double bytes_per_second =
      static_cast<double>(done_ - done_then_) / in_seconds(now - *began_);
  return line + ", " + format_size(static_cast<std::uint64_t>(bytes_per_second)) + "/s" +
         time_left(total_ - std::min(total_, done_), bytes_per_second);
}

StatusLine::StatusLine()
    : on_terminal_(::isatty(STDERR_FILENO) == 1), shown_at_(std::chrono::steady_clock::now()) {}

bool StatusLine::is_due() const {
  const auto passed = std::chrono::steady_clock::now() - shown_at_;
  return on_terminal_ ? passed >= kBetweenLiveLines : passed >= kBetweenPlainLines;
}

void StatusLine::show(const std::string& line) {
  clear();
  shown_at_ = std::chrono::steady_clock::now();
  shown_ = on_terminal_;
  if (on_terminal_) {
    std::fputs(fit_line(printable_message(line), terminal_columns() - 1).c_str(), stderr);
  } else {
    print_message(line);
  }
}

void StatusLine::clear() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

}  // namespace forebay
