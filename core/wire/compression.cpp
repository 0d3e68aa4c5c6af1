#include "core/wire/compression.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <limits>

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

constexpr double kWorthIt = 1.1;

std::string megabytes(double rate) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.0f MB/s", rate / 1e6);
  return text.data();
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

double CompressionChoice::rate(Compression way, const CompressionTrial& trial,
                               const LinkLoad& load) {
  if (way == Compression::kNone) return std::min(load.link_rate, load.make_rate);
  if (trial.ratio <= 0 || trial.compress_rate <= 0 || load.make_rate <= 0) return 0;
  // CPU seconds per byte: the time to make it and the time to compress it.
  const double seconds_a_byte = load.cpus / load.make_rate + 1 / trial.compress_rate;
  return std::min({load.link_rate / trial.ratio, load.cpus / seconds_a_byte,
                   load.receiver_cpus * trial.restore_rate});
}

Compression CompressionChoice::decide(const LinkLoad& load, const Trials& trials) {
  const std::array rates{rate(Compression::kNone, {}, load),
                         rate(Compression::kLz4, trials.lz4, load),
                         rate(Compression::kZstd, trials.zstd, load)};
  auto chosen = static_cast<std::size_t>(current_);  // in the order of CPU cost, cheapest first
  for (std::size_t way = chosen; way-- > 0;) {
    if (rates[way] >= rates[chosen]) chosen = way;
  }
  for (std::size_t way = chosen + 1; way < rates.size(); ++way) {
    if (rates[way] > kWorthIt * rates[chosen]) chosen = way;
  }
  current_ = static_cast<Compression>(chosen);
  why_ = "plain columns would arrive with " + megabytes(rates[0]) + ", by lz4 with " +
         megabytes(rates[1]) + ", by zstd with " + megabytes(rates[2]) + "; the link carries " +
         megabytes(load.link_rate);
  return current_;
}

}  // namespace forebay
