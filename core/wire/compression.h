#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/base/enum_names.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// How the data of columns is compressed for sending.
enum class Compression : std::uint8_t {
  kNone = 0,
  kLz4 = 1,   ///< One block of LZ4.
  kZstd = 2,  ///< One frame of zstd, written at level 1.
};

inline constexpr EnumName<Compression> kCompressionNames[] = {
    {"none", Compression::kNone}, {"lz4", Compression::kLz4}, {"zstd", Compression::kZstd}};

/// Compresses `data` into a buffer of `pool`; returns an empty buffer if the result is not smaller.
Buffer compressed(std::span<const std::byte> data, Compression by, BufferPool& pool);

/// Decompresses `data` to exactly `size` bytes; kCorrupt if the result has another size. `size`
/// comes from the sender, so the caller must have checked it against a limit.
Result<Buffer> decompressed(std::span<const std::byte> data, Compression by, std::size_t size,
                            BufferPool& pool);

}  // namespace forebay
