#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace forebay {

/// A place from which compressed content can be read without what lies before it (zran.c of zlib
/// has the idea). Every file has one at its start, which is written nowhere.
struct RestartPoint {
  enum class Kind : std::uint8_t {
    kFrame,   ///< A gzip member or zstd frame starts at `in`.
    kInside,  ///< A deflate block starts at `in`; needs the window.
  };

  std::uint64_t out = 0;  ///< Offset in the decompressed content.
  std::uint64_t in = 0;   ///< Offset in the stored file of the first byte not wholly used.
  Kind kind = Kind::kFrame;
  std::uint8_t bits = 0;  ///< Low bits missing of byte in - 1: so many of its high bits go on.
  std::uint64_t window_at = 0;     ///< Where the window lies, packed, in the index file.
  std::uint32_t window_bytes = 0;  ///< Packed.
  std::uint64_t window_hash = 0;   ///< Of the packed bytes: the low half of their Digest.

  bool operator==(const RestartPoint&) const = default;
};

/// Where reading begins: a point and its window (unpacked, at most 32 KiB).
struct Restart {
  RestartPoint point;
  std::vector<char> window;
};

/// Is told the restart points of a stream that is read from its start.
class RestartLog {
 public:
  virtual ~RestartLog() = default;
  /// Takes a point, whose window_* are still unset, and its window.
  virtual Status add(const RestartPoint& point, std::span<const char> window) = 0;
};

}  // namespace forebay
