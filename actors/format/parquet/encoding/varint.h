#pragma once

#include <cstdint>

namespace forebay::parquet {

/// Reads a LEB128 number of at most 64 bits and moves `at` behind it. Returns false if the bytes
/// end early or the number is longer.
inline bool read_varint(const char*& at, const char* end, std::uint64_t& out) {
  out = 0;
  for (unsigned shift = 0; shift < 64 && at != end; shift += 7) {
    const auto next = static_cast<std::uint8_t>(*at++);
    out |= std::uint64_t{next & 0x7fU} << shift;
    if (next < 0x80) return true;
  }
  return false;
}

/// Returns the signed number that `coded` stands for: 0, -1, 1, -2 …
inline std::int64_t from_zigzag(std::uint64_t coded) {
  return static_cast<std::int64_t>(coded >> 1 ^ (~(coded & 1) + 1));
}

}  // namespace forebay::parquet
