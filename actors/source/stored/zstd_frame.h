#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>

namespace forebay {

/// The memory needed to unpack a zstd frame, according to its header (RFC 8878, 3.1.1.1).
struct ZstdFrame {
  static constexpr std::size_t kMostHeaderBytes = 18;

  std::uint64_t window = 0;  ///< Bytes of content that must stay in memory.
  std::uint64_t content = std::numeric_limits<std::uint64_t>::max();  ///< Maximum if unknown.

  std::uint64_t memory() const { return std::min(window, content); }

  /// Parses the header of the frame at the start of `head`; nullopt if `head` does not begin with a
  /// frame or ends inside its header. Pure.
  static std::optional<ZstdFrame> read(std::span<const char> head);
};

}  // namespace forebay
