#include "tools/terminal/progress.h"

#include <cmath>

#include "engine/job/quantity.h"

namespace forebay {
namespace {

std::string percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

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

}  // namespace

std::string format_progress(const ProgressView& view) {
  std::string line = format_count(view.rows);
  if (view.rows_wanted && *view.rows_wanted > 0) {
    line += " of " + format_count(*view.rows_wanted) + " rows (" +
            percent(static_cast<double>(view.rows) / static_cast<double>(*view.rows_wanted)) + ")";
  } else {
    line += " rows";
  }
  line += ", " + rate(view.rows_per_second) + " rows/s, starved " + percent(view.starved_ratio);
  if (view.lookups_ready) line += ", rows ready " + tenths(*view.lookups_ready);
  line += ", " + format_size(view.memory_bytes) + " of " + format_size(view.memory_limit) + " |";
  for (const StageView& stage : view.stages) {
    line += " " + stage.name + " " + std::to_string(stage.actors) + "×" + percent(stage.busy_share);
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

}  // namespace forebay
