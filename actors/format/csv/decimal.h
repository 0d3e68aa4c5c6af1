#pragma once

#include <cstdint>
#include <string_view>

namespace forebay {

/// Reads a decimal number as the float nearest to it (ties to even), bit for bit as strtof does:
/// digits with an optional sign, point and exponent, or inf, infinity, nan in any case. A number
/// too large gives ±inf, too small ±0; nan always has the same bits. Returns false for any other
/// text; `text` is the whole number, without spaces.
bool read_decimal(std::string_view text, float& value);
/// The same for a double, bit for bit as strtod does.
bool read_decimal(std::string_view text, double& value);

/// The id of a sparse field: a canonical decimal int64 ("7", "-3"; not "007", "+7", "-0") stays
/// itself, any other text becomes XXH3-64 of its bytes (seed 0) taken as a signed integer.
std::int64_t id_of(std::string_view text);

}  // namespace forebay
