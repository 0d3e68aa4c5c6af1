#include "core/wire/compression_trial.h"

#include <algorithm>
#include <chrono>

namespace forebay {

CompressionTrial try_compression(std::span<const std::byte> sample, Compression way,
                                 BufferPool& pool, const Clock& clock) {
  const auto bytes = static_cast<double>(sample.size());
  const auto rate_since = [&](std::chrono::nanoseconds start) {
    const std::chrono::duration<double> took = clock.now() - start;
    return bytes / std::max(took.count(), 1e-9);
  };
  CompressionTrial trial;
  const auto start = clock.now();
  const Buffer squeezed = compressed(sample, way, pool);
  trial.compress_rate = rate_since(start);
  trial.restore_rate = trial.compress_rate;
  if (!squeezed) return trial;
  trial.ratio = static_cast<double>(squeezed.size()) / bytes;
  const auto again = clock.now();
  const auto restored = decompressed({squeezed.data(), squeezed.size()}, way, sample.size(), pool);
  trial.restore_rate = restored ? rate_since(again) : 0;
  return trial;
}

}  // namespace forebay
