#include "actors/format/parquet/encoding/rle_reader.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/varint.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kGroup = 8;  // numbers; they take as many bytes as one has bits

/// Bit i of `bits` as byte i.
std::uint64_t spread_bits(std::uint8_t bits) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kBitOfByte = 0x8040201008040201;  // bit i of byte i
  // A byte that is not 0 carries into its highest bit.
  return (((bits * kOnes) & kBitOfByte) + 0x7f * kOnes) >> 7 & kOnes;
}

}  // namespace

bool RleReader::next_run() {
  std::uint64_t header = 0;
  if (!read_varint(at_, end_, header)) return false;
  const auto left = static_cast<std::size_t>(end_ - at_);
  if ((header & 1) == 0) {
    const std::size_t bytes = (width_ + 7) / 8;
    if (bytes > left) return false;
    equal_ = header >> 1;
    value_ = 0;
    std::memcpy(&value_, at_, bytes);
    at_ += bytes;
    return width_ == 32 || value_ >> width_ == 0;
  }
  // Some writers cut off the bytes of the last group that hold no number.
  const std::size_t held = width_ == 0 ? ~std::size_t{0} : left * 8 / width_;
  packed_ = header >> 1 > held / kGroup ? held : (header >> 1) * kGroup;
  in_group_ = 0;
  return true;
}

void RleReader::read_group(std::span<std::uint32_t> out) {
  std::array<std::uint32_t, kGroup> group{};
  std::array<char, 32 + kUnpackSlack> bytes{};
  std::memcpy(bytes.data(), at_,
              std::min<std::size_t>(width_, static_cast<std::size_t>(end_ - at_)));
  unpack_bits(bytes.data(), width_, kGroup, group.data());
  std::copy_n(group.data() + in_group_, out.size(), out.data());
  in_group_ += out.size();
  if (in_group_ < kGroup) return;
  in_group_ = 0;
  at_ += width_;
}

void RleReader::read_packed(std::span<std::uint32_t> out) {
  packed_ -= out.size();
  if (in_group_ > 0) {
    const std::size_t first = std::min(out.size(), kGroup - in_group_);
    read_group(out.first(first));
    out = out.subspan(first);
  }
  const std::size_t whole = out.size() / kGroup * kGroup;
  unpack_(at_, width_, whole, out.data());
  at_ += whole / kGroup * width_;
  if (whole < out.size()) read_group(out.subspan(whole));
  // The next run begins behind the last group, whose last numbers may be missing.
  if (packed_ == 0 && in_group_ > 0) {
    at_ += std::min<std::size_t>(width_, static_cast<std::size_t>(end_ - at_));
    in_group_ = 0;
  }
}

template <class Number, class ReadPacked>
bool RleReader::read_runs(std::span<Number> out, const ReadPacked& read_packed) {
  while (!out.empty()) {
    if (equal_ == 0 && packed_ == 0 && !next_run()) return false;
    const std::size_t count = std::min(out.size(), std::max(equal_, packed_));
    if (equal_ > 0) {
      std::fill_n(out.data(), count, static_cast<Number>(value_));
      equal_ -= count;
    } else {
      read_packed(out.first(count));
    }
    out = out.subspan(count);
  }
  return true;
}

bool RleReader::read(std::span<std::uint32_t> out) {
  return read_runs(out, [this](std::span<std::uint32_t> some) { read_packed(some); });
}

void RleReader::read_packed_bits(std::span<std::uint8_t> out) {
  // Bits that do not fill a byte go the way of all numbers.
  const auto read_few = [&](std::size_t count) {
    std::array<std::uint32_t, kGroup> few{};
    read_packed(std::span(few).first(count));
    std::copy_n(few.data(), count, out.data());
    out = out.subspan(count);
  };
  if (in_group_ > 0) read_few(std::min(out.size(), kGroup - in_group_));
  const std::size_t whole = out.size() / kGroup;
  for (std::size_t i = 0; i < whole; ++i) {
    const std::uint64_t bytes = spread_bits(static_cast<std::uint8_t>(at_[i]));
    std::memcpy(out.data() + i * kGroup, &bytes, kGroup);
  }
  at_ += whole;
  packed_ -= whole * kGroup;
  out = out.subspan(whole * kGroup);
  if (!out.empty()) read_few(out.size());
}

bool RleReader::read_bits(std::span<std::uint8_t> out) {
  return read_runs(out, [this](std::span<std::uint8_t> some) { read_packed_bits(some); });
}

std::size_t RleReader::take_equal(std::size_t most, std::uint32_t& value) {
  if (equal_ == 0 && packed_ == 0 && (at_ == end_ || !next_run())) return 0;
  const std::size_t taken = std::min(equal_, most);
  value = value_;
  equal_ -= taken;
  return taken;
}

bool RleReader::skip_equal(std::uint32_t value, std::size_t count) {
  while (equal_ == 0 && packed_ == 0) {
    if (at_ == end_ || !next_run()) return false;
  }
  if (equal_ < count || value_ != value) return false;
  equal_ -= count;
  return true;
}

}  // namespace forebay::parquet
