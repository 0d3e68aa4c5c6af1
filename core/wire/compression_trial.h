#pragma once

#include <cstddef>
#include <span>

#include "core/base/clock.h"
#include "core/wire/compression_choice.h"

namespace forebay {

/// Compresses a sample and restores it, both timed on the caller's thread. A sample that does not
/// shrink has ratio 1.
CompressionTrial try_compression(std::span<const std::byte> sample, Compression way,
                                 BufferPool& pool, const Clock& clock);

}  // namespace forebay
