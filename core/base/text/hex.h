#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace forebay {

// Hexadecimal digits; written in lower case. Any thread.

/// Adds the two digits of `byte` to `text`, such as "0a".
void append_hex(std::string& text, unsigned char byte);

/// Returns the 16 digits of `number`, the highest first.
std::string hex_digits(std::uint64_t number);

/// Returns the number that `text` is, in digits of either case; nothing for any other text, and for
/// a number that does not fit.
std::optional<std::uint64_t> parse_hex(std::string_view text);

}  // namespace forebay
