#pragma once

#include <cstddef>
#include <cstdint>

namespace forebay {

/// Bytes of a narrowed id: 1, 2 or 4 (unsigned), or all 8.
enum class IdWidth : std::uint8_t { k1 = 1, k2 = 2, k4 = 4, k8 = 8 };

/// The narrowest width for ids whose bitwise OR is `bits`. A single negative id requires k8.
constexpr IdWidth width_for_bits(std::uint64_t bits) {
  if (bits <= 0xff) return IdWidth::k1;
  if (bits <= 0xffff) return IdWidth::k2;
  return bits <= 0xffffffff ? IdWidth::k4 : IdWidth::k8;
}

/// The bitwise OR of `ids`.
std::uint64_t bits_of(const std::int64_t* ids, std::size_t count);

/// Writes the lowest `width` bytes of each id to `to`, which needs no alignment. Returns
/// bits_of(ids): the ids were written completely only if width_for_bits of the result is not wider
/// than `width`.
std::uint64_t narrow_ids(const std::int64_t* ids, std::size_t count, IdWidth width, std::byte* to);

/// Reads narrowed ids back from `from`, which needs no alignment.
void widen_ids(const std::byte* from, IdWidth width, std::size_t count, std::int64_t* to);

}  // namespace forebay
