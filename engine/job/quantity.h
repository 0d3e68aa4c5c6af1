#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/text/counted.h"  // format_count(), of the same family

namespace forebay {

/// Reads `512MiB`, `2GB`, `1.5 GiB` or plain bytes; nullopt for anything else, or if the value does
/// not fit into 63 bits. Units: B, KB, MB, GB, TB (powers of 1000), KiB, MiB, GiB, TiB (of 1024),
/// any case.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Reads `250ms`, `5s`, `2m`, `1h`, `40us` or plain seconds (`0.5`); nullopt for anything else, for
/// a negative time or one above a hundred years.
std::optional<std::chrono::nanoseconds> parse_duration(std::string_view text);

/// Reads a whole number of decimal digits; nullopt for anything else or above 2⁶³ - 1.
std::optional<std::uint64_t> parse_count(std::string_view text);

/// Returns `1.5 GiB`, `400 MiB`, `17 B`: three significant digits.
std::string format_size(std::uint64_t bytes);

/// Returns `250 ms`, `5.2 s`, `3 min 20 s`, `2 h 5 min`.
std::string format_duration(std::chrono::nanoseconds time);

/// Returns what std::printf prints, cut to 127 characters.
template <class... Values>
std::string printed(const char* format, Values... values) {
  std::array<char, 128> text{};
  std::snprintf(text.data(), text.size(), format, values...);
  return text.data();
}

/// Returns the number with so many digits behind its point.
std::string format_number(double number, int digits);

/// Returns `42 %` for a share of 0.42.
std::string format_percent(double share);

/// Reads the whole number `text` that a launcher stored in the variable `name`: digits only, from
/// `least` to `most`. Blanks, signs, an empty text and values out of range are kInvalid, with the
/// variable, its value and the range. All numbers of the environment are read by this function.
Result<std::uint64_t> environment_number(const std::string& name, std::string_view text,
                                         std::uint64_t least, std::uint64_t most);

}  // namespace forebay
