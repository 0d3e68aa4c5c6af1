#pragma once

#include <cstddef>
#include <string_view>

namespace forebay {

/// Whether the byte is none that begins a UTF-8 character.
constexpr bool continues_character(char byte) {
  return (static_cast<unsigned char>(byte) & 0xc0) == 0x80;
}

/// Returns the size in bytes of the UTF-8 character (RFC 3629) at the start of `text`, which is not
/// empty; 0 if none is there.
std::size_t character_size(std::string_view text);

bool is_utf8(std::string_view text);

/// Returns the number of UTF-8 characters of `text`: its width on a terminal, where each takes one
/// column.
std::size_t character_count(std::string_view text);

}  // namespace forebay
