#include "engine/job/quantity.h"

#include <charconv>
#include <cmath>
#include <span>

#include "core/base/clock.h"
#include "core/base/text/number.h"
#include "core/base/text/printable.h"

namespace forebay {
namespace {

struct Unit {
  std::string_view name;  // In lower case.
  double factor;
};

constexpr Unit kSizes[] = {{"", 1},         {"b", 1},       {"kb", 1e3},     {"mb", 1e6},
                           {"gb", 1e9},     {"tb", 1e12},   {"kib", 0x1p10}, {"mib", 0x1p20},
                           {"gib", 0x1p30}, {"tib", 0x1p40}};
constexpr Unit kTimes[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},   {"ms", 1e6},
                           {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};

bool same_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() != lower.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

// Reads a number followed by one of `units` and multiplies them. The result must be a whole number
// from 0 to `most`.
std::optional<std::uint64_t> parse_scaled(std::string_view text, std::span<const Unit> units,
                                          double most) {
  double number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || std::signbit(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (!same_ignoring_case(unit, known.name)) continue;
    const double scaled = number * known.factor;
    if (scaled > most) return std::nullopt;
    return static_cast<std::uint64_t>(std::llround(scaled));
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (auto whole = parse_count(text)) return whole;  // Exact above 2⁵³.
  return parse_scaled(text, kSizes, 9.2e18);
}

std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text) {
  const auto scaled = parse_scaled(text, kTimes, 3.15e18);
  if (!scaled) return std::nullopt;
  return std::chrono::nanoseconds(static_cast<std::int64_t>(*scaled));
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  const auto number = parse_number<std::int64_t>(text);
  if (!number || text.starts_with('-')) return std::nullopt;
  return static_cast<std::uint64_t>(*number);
}

std::string format_size(std::uint64_t bytes) {
  static constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  const bool whole = unit == 0 || value >= 100 || std::abs(value - std::round(value)) < 0.005;
  return printed(whole ? "%.0f" : value >= 10 ? "%.1f" : "%.2f", value) + " " + kUnits[unit];
}

std::string format_duration(std::chrono::nanoseconds time) {
  const double seconds = in_seconds(time);
  if (seconds < 1) return printed("%.0f ms", seconds * 1e3);
  if (seconds < 60) return printed(seconds < 10 ? "%.1f s" : "%.0f s", seconds);
  const auto total = static_cast<std::uint64_t>(std::llround(seconds));
  if (total < 3600) return std::to_string(total / 60) + " min " + std::to_string(total % 60) + " s";
  return std::to_string(total / 3600) + " h " + std::to_string(total / 60 % 60) + " min";
}

std::string format_number(double number, int digits) { return printed("%.*f", digits, number); }

std::string format_percent(double share) { return std::to_string(std::lround(share * 100)) + " %"; }

Result<std::uint64_t> environment_number(const std::string& name, std::string_view text,
                                         std::uint64_t least, std::uint64_t most) {
  constexpr std::size_t kShown = 40;
  const auto value = parse_count(text);
  if (value && *value >= least && *value <= most) return *value;
  return fail(Code::kInvalid, name + " is \"" + printable(text, kShown) +
                                  "\" in the environment and must be a whole number within " +
                                  std::to_string(least) + " to " + std::to_string(most));
}

}  // namespace forebay
