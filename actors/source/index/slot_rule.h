#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// The slot rule of design/order.md: the slot size of a dataset, as a function of its content
/// alone.
namespace slot_rule {

inline constexpr std::uint64_t kFinest = 256;          ///< Bytes.
inline constexpr std::uint64_t kBySize = 16 << 10;     ///< The largest that slot_for() returns.
inline constexpr std::uint64_t kCoarsest = 256 << 10;  ///< The largest slot of any dataset.
inline constexpr std::uint64_t kSlotsWanted = 1600;
inline constexpr std::size_t kMostBlocks = 1 << 20;  ///< Of a dataset, except at kCoarsest.

/// Returns the largest power of two ≤ bytes / 1600, clamped to kFinest … kBySize.
constexpr std::uint64_t slot_for(std::uint64_t bytes) {
  const std::uint64_t wanted = std::bit_floor(bytes / kSlotsWanted);
  return wanted < kFinest ? kFinest : wanted > kBySize ? kBySize : wanted;
}

/// Returns the number of blocks at `slot` above which any dataset that contains the file has
/// coarser slots: n blocks start in n slots, so the file has more than (n - 1) · slot bytes, and
/// 2¹⁷ · slot / 1600 > 2 · slot.
constexpr std::size_t most_blocks(std::uint64_t slot) {
  return slot < kBySize ? std::size_t{1} << 17 : kMostBlocks;
}

}  // namespace slot_rule
}  // namespace forebay
