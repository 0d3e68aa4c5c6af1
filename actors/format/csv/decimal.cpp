#include "actors/format/csv/decimal.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <limits>
#include <system_error>

#include <xxhash.h>

#include "core/base/text/number.h"
#include "core/data/column_set.h"

namespace forebay {
namespace {

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

/// Short numbers without an exponent. A mantissa below 2^24 and a power of ten up to 10^10 are
/// both exact as floats, so one division rounds correctly (Clinger, PLDI '90).
bool read_short(std::string_view text, float& magnitude) {
  static constexpr std::array<float, 8> kPowers{1, 1e1F, 1e2F, 1e3F, 1e4F, 1e5F, 1e6F, 1e7F};
  if (text.size() > 8) return false;
  std::uint32_t mantissa = 0;
  std::size_t digits = 0;
  std::size_t point = text.size();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (is_digit(text[i])) {
      mantissa = mantissa * 10 + static_cast<std::uint32_t>(text[i] - '0');
      ++digits;
    } else if (text[i] == '.' && point == text.size()) {
      point = i;
    } else {
      return false;
    }
  }
  if (digits == 0 || mantissa >= 1U << 24) return false;
  const std::size_t decimals = point == text.size() ? 0 : text.size() - 1 - point;
  magnitude = static_cast<float>(mantissa) / kPowers[decimals];
  return true;
}

/// Only floats have few enough digits for it to pay.
bool read_short(std::string_view /*text*/, double& /*magnitude*/) { return false; }

bool same_letters(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

/// Whether a number outside float's range is too large (not too small): its first significant digit
/// is left of the point after the exponent is applied.
bool is_huge(std::string_view text) {
  const std::size_t mark = std::min(text.find_first_of("eE"), text.size());
  const std::string_view mantissa = text.substr(0, mark);
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const std::size_t point = std::min(mantissa.find('.'), mantissa.size());
  const auto shift = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  const bool down = mark + 1 < text.size() && text[mark + 1] == '-';
  std::int64_t exponent = 0;
  for (const char letter : text.substr(std::min(mark + 1, text.size()))) {
    if (is_digit(letter))
      exponent = std::min<std::int64_t>(exponent * 10 + (letter - '0'), 1 << 30);
  }
  return shift + (down ? -exponent : exponent) > 0;
}

template <class Number>
bool read_long(std::string_view text, Number& magnitude) {
  if (text.empty() || !(is_digit(text[0]) || text[0] == '.')) return false;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, magnitude);
  if (end != last || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) {
    magnitude = is_huge(text) ? std::numeric_limits<Number>::infinity() : Number{0};
  }
  return true;
}

template <class Number>
bool read_signed(std::string_view text, Number nan, Number& value) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  Number magnitude = 0;
  if (!read_short(text, magnitude)) {  // Nearly all numbers are short.
    if (same_letters(text, "nan")) {
      value = nan;
      return true;
    }
    if (same_letters(text, "inf") || same_letters(text, "infinity")) {
      magnitude = std::numeric_limits<Number>::infinity();
    } else if (!read_long(text, magnitude)) {
      return false;
    }
  }
  value = negative ? -magnitude : magnitude;
  return true;
}

}  // namespace

bool read_decimal(std::string_view text, float& value) {
  return read_signed(text, std::bit_cast<float>(kNanBits), value);
}

bool read_decimal(std::string_view text, double& value) {
  return read_signed(text, std::numeric_limits<double>::quiet_NaN(), value);
}

std::int64_t id_of(std::string_view text) {
  const std::size_t sign = !text.empty() && text[0] == '-' ? 1 : 0;
  const bool starts_right =
      text.size() > sign && is_digit(text[sign]) && (text[sign] != '0' || text.size() == 1);
  if (starts_right && text.size() <= 20) {
    if (const auto id = parse_number<std::int64_t>(text)) return *id;
  }
  return std::bit_cast<std::int64_t>(std::uint64_t{XXH3_64bits(text.data(), text.size())});
}

}  // namespace forebay
