#include "core/base/text/utf8.h"

#include <algorithm>

namespace forebay {
namespace {

/// Whether the second byte of a character is one that no shorter character, surrogate or number
/// over U+10FFFF would have.
bool may_follow(unsigned char lead, unsigned char second) {
  switch (lead) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second < 0xa0;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second < 0x90;
    default:
      return true;
  }
}

}  // namespace

std::size_t character_size(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t size = lead < 0x80                   ? 1
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xf0 && lead < 0xf5 ? 4
                                                         : 0;
  if (size > text.size()) return 0;
  if (size > 1 && !std::ranges::all_of(text.substr(1, size - 1), continues_character)) return 0;
  const bool fits = size < 2 || may_follow(lead, static_cast<unsigned char>(text[1]));
  return fits ? size : 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_size(text);
    if (size == 0) return false;
    text.remove_prefix(size);
  }
  return true;
}

std::size_t character_count(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char byte) { return !continues_character(byte); }));
}

}  // namespace forebay
