#pragma once

#include <cstdint>

namespace forebay::parquet {

/// Writes a number in 7 bits a byte, at most 10 bytes; returns their end.
inline char* put_varint(std::uint64_t number, char* to) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>(number | 0x80);
  *to++ = static_cast<char>(number);
  return to;
}

}  // namespace forebay::parquet
