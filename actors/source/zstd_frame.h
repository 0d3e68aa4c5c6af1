#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace forebay {

/// What the header of a zstd frame (RFC 8878, 3.1.1.1) says of the memory that unpacking it takes.
struct ZstdFrame {
  static constexpr std::size_t kMostHeaderBytes = 18;

  std::uint64_t window = 0;  ///< Bytes of its content that have to stay in memory.
  std::uint64_t content = std::numeric_limits<std::uint64_t>::max();  ///< Unknown: the largest.

  std::uint64_t memory() const { return std::min(window, content); }

  /// Of the frame that `head` begins with; nothing where none does, or where `head` ends inside
  /// the header. Pure.
  static std::optional<ZstdFrame> read(std::span<const char> head);
};

}  // namespace forebay
