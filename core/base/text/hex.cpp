#include "core/base/text/hex.h"

#include <charconv>
#include <system_error>

namespace forebay {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

}  // namespace

void append_hex(std::string& text, unsigned char byte) {
  text += kDigits[byte >> 4];
  text += kDigits[byte & 15];
}

std::string hex_digits(std::uint64_t number) {
  std::string text;
  for (int shift = 56; shift >= 0; shift -= 8) {
    append_hex(text, static_cast<unsigned char>(number >> shift));
  }
  return text;
}

std::optional<std::uint64_t> parse_hex(std::string_view text) {
  std::uint64_t number = 0;
  const char* const last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number, 16);
  return error == std::errc() && end == last ? std::optional(number) : std::nullopt;
}

}  // namespace forebay
