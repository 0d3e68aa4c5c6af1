#include "actors/format/parquet/encoding/delta_reader.h"

#include <algorithm>
#include <array>

#include "actors/format/parquet/encoding/bit_unpack.h"
#include "core/base/varint.h"

namespace forebay::parquet {
namespace {

constexpr std::uint64_t kMostBlock = 1 << 20;  // numbers; usual are 128 to 1024
constexpr std::size_t kChunk = 32;             // numbers unpacked at once

}  // namespace

bool DeltaReader::read(std::size_t count, std::vector<std::int64_t>& out) {
  std::uint64_t block = 0;
  std::uint64_t miniblocks = 0;
  std::uint64_t total = 0;
  std::uint64_t first = 0;
  if (!read_varint(at_, end_, block) || !read_varint(at_, end_, miniblocks) ||
      !read_varint(at_, end_, total) || !read_varint(at_, end_, first)) {
    return false;
  }
  if (miniblocks == 0 || block > kMostBlock || block % miniblocks != 0 || total != count)
    return false;
  miniblocks_ = miniblocks;
  numbers_ = block / miniblocks;
  if (numbers_ == 0 || numbers_ % kChunk != 0) return false;
  // A block has at least one byte for its least difference and one a miniblock.
  const auto left = static_cast<std::size_t>(end_ - at_);
  if (count > 1 && (count - 2) / block + 1 > left / (1 + miniblocks)) return false;
  out.clear();
  out.reserve(count);
  if (count > 0) out.push_back(from_zigzag(first));
  while (out.size() < count) {
    if (!read_block(out, count)) return false;
  }
  return true;
}

bool DeltaReader::read_block(std::vector<std::int64_t>& out, std::size_t count) {
  std::uint64_t coded = 0;
  if (!read_varint(at_, end_, coded)) return false;
  const auto least = static_cast<std::uint64_t>(from_zigzag(coded));
  if (miniblocks_ > static_cast<std::size_t>(end_ - at_)) return false;
  const char* const widths = at_;
  at_ += miniblocks_;
  auto last = static_cast<std::uint64_t>(out.back());
  std::array<std::uint64_t, kChunk> differences{};
  // Miniblocks without numbers have a width and no bytes.
  for (std::size_t i = 0; i < miniblocks_ && out.size() < count; ++i) {
    const auto width = static_cast<std::uint8_t>(widths[i]);
    if (width > 64 || numbers_ / 8 * width > static_cast<std::size_t>(end_ - at_)) return false;
    for (std::size_t begin = 0; begin < numbers_; begin += kChunk, at_ += kChunk / 8 * width) {
      const std::size_t wanted = std::min(kChunk, count - out.size());
      if (wanted == 0) continue;
      unpack_wide_bits(at_, width, wanted, differences.data());
      for (std::size_t j = 0; j < wanted; ++j) {
        last += least + differences[j];
        out.push_back(static_cast<std::int64_t>(last));
      }
    }
  }
  return true;
}

}  // namespace forebay::parquet
