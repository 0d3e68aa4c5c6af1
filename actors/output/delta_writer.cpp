#include "actors/output/delta_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>

#include "core/base/varint.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kMiniblocks = 4;
constexpr std::size_t kMiniblock = 32;
constexpr std::size_t kBlock = kMiniblocks * kMiniblock;
constexpr unsigned kMostBits = 48;
constexpr std::size_t kWord = sizeof(std::uint64_t);
/// A block's smallest delta, its widths and its numbers, and what pack() touches behind them.
constexpr std::size_t kMostBlockBytes = 10 + kMiniblocks + kBlock * kMostBits / 8 + kWord;

/// Packs the numbers of a miniblock, `width` <= kMostBits bits each, from the lowest bit upwards.
/// Touches less than a word behind its end.
char* pack(std::span<const std::uint64_t, kMiniblock> numbers, unsigned width, char* to) {
  std::uint64_t word = 0;
  unsigned filled = 0;
  for (const std::uint64_t number : numbers) {
    word |= number << filled;  // fits: fewer than 8 bits wait
    filled += width;
    std::memcpy(to, &word, kWord);
    to += filled / 8;
    word >>= filled / 8 * 8;
    filled %= 8;
  }
  return to;
}

/// The differences of a block's numbers, as wrapped 64-bit numbers; those past the last one are 0.
using Deltas = std::array<std::uint64_t, kBlock>;

/// Returns the end of the block; nullptr if a number needs too many bits.
char* put_block(Deltas& deltas, std::size_t count, char* to) {
  std::int64_t least = static_cast<std::int64_t>(deltas[0]);
  for (std::size_t i = 1; i < count; ++i) {
    least = std::min(least, static_cast<std::int64_t>(deltas[i]));
  }
  for (std::size_t i = 0; i < count; ++i) deltas[i] -= static_cast<std::uint64_t>(least);
  to = put_varint(to_zigzag(static_cast<std::int64_t>(least)), to);
  char* const widths = to;
  std::memset(to, 0, kMiniblocks);
  to += kMiniblocks;
  for (std::size_t i = 0; i * kMiniblock < count; ++i) {
    const std::span<const std::uint64_t, kMiniblock> numbers(deltas.data() + i * kMiniblock,
                                                             kMiniblock);
    std::uint64_t bits = 0;
    for (const std::uint64_t number : numbers) bits |= number;
    const auto width = static_cast<unsigned>(std::bit_width(bits));
    if (width > kMostBits) return nullptr;
    widths[i] = static_cast<char>(width);
    to = pack(numbers, width, to);
  }
  return to;
}

}  // namespace

bool write_delta(std::span<const std::uint64_t> numbers, std::string& out) {
  const std::size_t before = out.size();
  const std::size_t blocks = numbers.size() / kBlock + 1;
  out.resize(before + 4 * 10 + blocks * kMostBlockBytes);
  char* to = out.data() + before;
  to = put_varint(kBlock, to);
  to = put_varint(kMiniblocks, to);
  to = put_varint(numbers.size(), to);
  to = put_varint(numbers.empty() ? 0 : to_zigzag(static_cast<std::int64_t>(numbers[0])), to);
  for (std::size_t begin = 1; begin < numbers.size() && to != nullptr; begin += kBlock) {
    const std::size_t count = std::min(kBlock, numbers.size() - begin);
    Deltas deltas{};
    for (std::size_t i = 0; i < count; ++i) {
      deltas[i] = numbers[begin + i] - numbers[begin + i - 1];
    }
    to = put_block(deltas, count, to);
  }
  out.resize(to == nullptr ? before : static_cast<std::size_t>(to - out.data()));
  return to != nullptr;
}

}  // namespace forebay::parquet
