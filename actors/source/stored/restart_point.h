#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// A location from which compressed content can be decoded without the content before it (idea:
/// zran.c of zlib). Every file has an implicit restart point at its start, which is not stored.
struct RestartPoint {
  enum class Kind : std::uint8_t {
    kFrame,   ///< A gzip member or zstd frame starts at `in`.
    kInside,  ///< A deflate block starts at `in`; needs the window.
  };

  std::uint64_t out = 0;  ///< Offset in the decompressed content.
  std::uint64_t in = 0;   ///< Offset in the stored file of the first unused byte.
  Kind kind = Kind::kFrame;
  std::uint8_t bits = 0;           ///< Number of high bits of byte `in` - 1 that are not used yet.
  std::uint64_t window_at = 0;     ///< Offset of the packed window in the index file.
  std::uint32_t window_bytes = 0;  ///< Size of the packed window.
  std::uint64_t window_hash = 0;   ///< The low half of the packed window's Digest.

  bool operator==(const RestartPoint&) const = default;
};

/// A start for reading: a restart point and its window (unpacked, at most 32 KiB).
struct Restart {
  RestartPoint point;
  std::vector<char> window;
};

/// Receives the restart points of a stream that is read from its start.
class RestartLog {
 public:
  virtual ~RestartLog() = default;
  /// Adds a point and its window. The window_* fields of `point` are still unset.
  virtual Status add(const RestartPoint& point, std::span<const char> window) = 0;
};

}  // namespace forebay
