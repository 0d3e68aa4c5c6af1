#pragma once

#include <cstddef>
#include <span>

#include "core/base/clock.h"
#include "core/wire/compression_choice.h"

namespace forebay {

/// Compresses and decompresses a sample, and measures both on the caller's thread. The ratio of a
/// sample that does not shrink is 1.
CompressionTrial try_compression(std::span<const std::byte> sample, Compression way,
                                 BufferPool& pool, const Clock& clock);

}  // namespace forebay
