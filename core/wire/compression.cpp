#include "core/wire/compression.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <lz4.h>
#include <zstd.h>

namespace forebay {
namespace {

constexpr auto kLargestInt = static_cast<std::size_t>(std::numeric_limits<int>::max());

std::size_t squeeze_lz4(std::span<const std::byte> data, const Buffer& room) {
  if (data.size() > LZ4_MAX_INPUT_SIZE) return 0;
  const int size = LZ4_compress_default(reinterpret_cast<const char*>(data.data()), room.as<char>(),
                                        static_cast<int>(data.size()),
                                        static_cast<int>(std::min(room.size(), kLargestInt)));
  return size > 0 ? static_cast<std::size_t>(size) : 0;
}

std::size_t squeeze_zstd(std::span<const std::byte> data, const Buffer& room) {
  constexpr int kLevel = 1;
  const std::size_t size =
      ZSTD_compress(room.data(), room.size(), data.data(), data.size(), kLevel);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

/// Decompresses `data`; true if the result fills `out` exactly.
bool restore(std::span<const std::byte> data, Compression by, const Buffer& out) {
  if (by == Compression::kZstd) {
    return ZSTD_decompress(out.data(), out.size(), data.data(), data.size()) == out.size();
  }
  if (data.size() > kLargestInt || out.size() > kLargestInt) return false;
  const int size = LZ4_decompress_safe(reinterpret_cast<const char*>(data.data()), out.as<char>(),
                                       static_cast<int>(data.size()), static_cast<int>(out.size()));
  return size >= 0 && static_cast<std::size_t>(size) == out.size();
}

}  // namespace

Buffer compressed(std::span<const std::byte> data, Compression by, BufferPool& pool) {
  if (by == Compression::kNone || data.size() < 2) return {};
  // With space for one byte less, the library refuses data that does not shrink.
  Buffer room = pool.take(data.size() - 1);
  const std::size_t size =
      by == Compression::kLz4 ? squeeze_lz4(data, room) : squeeze_zstd(data, room);
  if (size == 0) return {};
  room.shrink(size);
  return room;
}

Result<Buffer> decompressed(std::span<const std::byte> data, Compression by, std::size_t size,
                            BufferPool& pool) {
  if (by != Compression::kLz4 && by != Compression::kZstd) {
    return fail(Code::kCorrupt, "compressed in a way that is not known: " +
                                    std::to_string(static_cast<unsigned>(by)));
  }
  Buffer out = pool.take(size);
  if (restore(data, by, out)) return out;
  return fail(Code::kCorrupt,
              "compressed data does not give the bytes it should: " + std::to_string(size));
}

}  // namespace forebay
