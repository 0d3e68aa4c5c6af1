#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// How the data of columns is squeezed on its way.
enum class Compression : std::uint8_t {
  kNone = 0,
  kLz4 = 1,   ///< One block of LZ4.
  kZstd = 2,  ///< One frame of zstd, written at level 1.
};

/// The data in fewer bytes, in a buffer of `pool`; an empty buffer when they would not be fewer.
Buffer compressed(std::span<const std::byte> data, Compression by, BufferPool& pool);

/// Undoes it. The caller has bounded `size`, which the sender said it has; kCorrupt unless it
/// has exactly that.
Result<Buffer> decompressed(std::span<const std::byte> data, Compression by, std::size_t size,
                            BufferPool& pool);

}  // namespace forebay
