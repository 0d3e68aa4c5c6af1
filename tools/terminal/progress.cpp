#include "tools/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "core/base/text/printable.h"
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

std::string time_left(const ProgressView& view) {
  if (!view.rows_wanted || view.rows_per_second < 1 || *view.rows_wanted <= view.rows) return "";
  const double seconds = static_cast<double>(*view.rows_wanted - view.rows) / view.rows_per_second;
  constexpr double kMost = 1e9;
  if (seconds > kMost) return "";
  const std::chrono::nanoseconds time(static_cast<std::int64_t>(seconds * 1e9));
  return " | " + format_duration(time) + " left";
}

bool continues_letter(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

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
  return line + time_left(view) + (view.tuner.empty() ? "" : " | " + view.tuner);
}

std::string fit_line(const std::string& line, std::size_t columns) {
  std::size_t shown = 0;
  for (std::size_t at = 0; at < line.size(); ++at) {
    if (continues_letter(line[at])) continue;
    if (shown++ == columns) return line.substr(0, at);
  }
  return line;
}

std::optional<std::string> IndexingProgress::line(std::uint64_t done, std::uint64_t total,
                                                  std::chrono::nanoseconds now) {
  std::int64_t last = last_ns_.load();
  if (now - std::chrono::nanoseconds(last) < kPeriod) return std::nullopt;
  // If several threads find that a line is due, one of them gets it.
  if (!last_ns_.compare_exchange_strong(last, now.count())) return std::nullopt;
  if (done == 0 || total == 0) return "indexing " + format_size(total);
  const double share = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
  const std::chrono::duration<double> spent = now - began_;
  const auto left = std::chrono::duration_cast<std::chrono::seconds>(spent * ((1 - share) / share));
  return "indexed " + format_size(done) + " of " + format_size(total) + " (" +
         std::to_string(static_cast<int>(share * 100)) + " %), " + format_duration(left) + " left";
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
