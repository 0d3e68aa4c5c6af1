#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// Bytes an id takes where it is kept narrow: 1, 2 or 4 without a sign, or all 8.
enum class IdWidth : std::uint8_t { k1 = 1, k2 = 2, k4 = 4, k8 = 8 };

/// The width that holds every id whose bits, or-ed together, are `bits`. One negative id: k8.
constexpr IdWidth width_for_bits(std::uint64_t bits) {
  if (bits <= 0xff) return IdWidth::k1;
  if (bits <= 0xffff) return IdWidth::k2;
  return bits <= 0xffffffff ? IdWidth::k4 : IdWidth::k8;
}

/// The bits of `ids`, or-ed together.
std::uint64_t bits_of(const std::int64_t* ids, std::size_t count);

/// Writes the lowest bytes of each id, wherever `to` stands. Returns bits_of(ids): what was
/// written is whole only where width_for_bits of that is no wider.
std::uint64_t narrow_ids(const std::int64_t* ids, std::size_t count, IdWidth width, std::byte* to);

/// Reads narrow ids back, wherever they stand.
void widen_ids(const std::byte* from, IdWidth width, std::size_t count, std::int64_t* to);

}  // namespace forebay
