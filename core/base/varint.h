#pragma once

#include <cstdint>

namespace forebay {

/// Numbers in LEB128: 7 bits a byte, the lowest first, as Parquet's Thrift, Protocol Buffers and
/// Forebay's index files have them.

/// Writes a number, at most 10 bytes; returns their end.
inline char* put_varint(std::uint64_t number, char* to) {
  for (; number >= 0x80; number >>= 7) *to++ = static_cast<char>(number | 0x80);
  *to++ = static_cast<char>(number);
  return to;
}

/// Appends a number to a string or a vector of characters.
template <class Bytes>
void append_varint(std::uint64_t number, Bytes& bytes) {
  for (; number >= 0x80; number >>= 7) bytes.push_back(static_cast<char>(number | 0x80));
  bytes.push_back(static_cast<char>(number));
}

/// Reads a number of at most 64 bits and moves `at` behind it. Returns false if the bytes end early
/// or the number is longer.
inline bool read_varint(const char*& at, const char* end, std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
    const auto next = static_cast<std::uint8_t>(*at++);
    out |= std::uint64_t{next & 0x7fU} << shift;
    if (next < 0x80) return true;
  }
  return false;
}

/// The signed numbers 0, -1, 1, -2 … as 0, 1, 2, 3 …
inline std::uint64_t to_zigzag(std::int64_t number) {
  return static_cast<std::uint64_t>(number) << 1 ^ static_cast<std::uint64_t>(number >> 63);
}
inline std::int64_t from_zigzag(std::uint64_t coded) {
  return static_cast<std::int64_t>(coded >> 1 ^ (~(coded & 1) + 1));
}

}  // namespace forebay
