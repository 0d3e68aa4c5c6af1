#include "actors/output/rle_writer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "core/base/varint.h"

namespace forebay::parquet {
namespace {

constexpr std::size_t kGroup = 8;
/// A run of levels that is shorter takes as much as packed bits, and is slower to read.
constexpr std::size_t kShortestBytes = 4;
/// Bytes of a run and of the header after it, at most.
constexpr std::size_t kHeaders = 24;
/// Bytes that append_packed() writes past its end.
constexpr std::size_t kPast = 16;

std::uint64_t four_of(const std::uint16_t* numbers) {
  std::uint64_t four = 0;
  std::memcpy(&four, numbers, sizeof four);
  return four;
}

/// Closes the gaps between four numbers of `width` bits.
std::uint64_t packed_four(std::uint64_t four, unsigned width) {
  constexpr std::uint64_t kEven = 0x0000ffff0000ffff;
  const std::uint64_t pairs = (four & kEven) | (four >> 16 & kEven) << width;
  return (pairs & 0xffffffff) | pairs >> 32 << (2 * width);
}

/// Writes `width` bytes for eight numbers, and touches up to kPast bytes after them.
void pack_group(const std::uint16_t* numbers, unsigned width, char* to) {
  const std::uint64_t low = packed_four(four_of(numbers), width);
  const std::uint64_t high = packed_four(four_of(numbers + 4), width);
  std::array<std::uint64_t, 2> words{low, high};
  if (width < 16) words = {low | high << (4 * width), high >> (64 - 4 * width)};
  std::memcpy(to, words.data(), sizeof words);
}

/// Packs numbers from the lowest bit of the first byte upwards; the last group is filled with
/// zeros.
char* put_packed(std::span<const std::uint16_t> numbers, unsigned width, char* to) {
  if (numbers.empty()) return to;
  const std::size_t whole = numbers.size() / kGroup;
  const std::size_t rest = numbers.size() % kGroup;
  to = put_varint((whole + (rest > 0 ? 1 : 0)) << 1 | 1, to);
  for (std::size_t group = 0; group < whole; ++group, to += width) {
    pack_group(numbers.data() + group * kGroup, width, to);
  }
  if (rest == 0) return to;
  std::array<std::uint16_t, kGroup> last{};
  std::copy_n(numbers.data() + whole * kGroup, rest, last.data());
  pack_group(last.data(), width, to);
  return to + width;
}

bool group_is_equal(const std::uint16_t* numbers) {
  const std::uint64_t four = four_of(numbers);
  return four == four_of(numbers + 4) && four == (four & 0xffff) * 0x0001000100010001;
}

char* put_run(std::uint16_t number, std::size_t count, unsigned width, char* to) {
  to = put_varint(count << 1, to);
  for (unsigned bit = 0; bit < width; bit += 8) *to++ = static_cast<char>(number >> bit);
  return to;
}

std::size_t run_at(std::span<const std::uint16_t> numbers, std::size_t begin) {
  std::size_t end = begin + kGroup;
  while (end < numbers.size() && numbers[end] == numbers[begin]) ++end;
  return end - begin;
}

/// Calls `put` with memory at the end of `out` for at most `most` bytes; it returns their end.
template <class Put>
void append(std::string& out, std::size_t most, const Put& put) {
  const std::size_t before = out.size();
  out.resize(before + most);
  out.resize(static_cast<std::size_t>(put(out.data() + before) - out.data()));
}

/// Appends whole bytes of packed levels.
char* put_bytes(std::span<const std::uint8_t> bytes, char* to) {
  if (bytes.empty()) return to;
  to = put_varint(bytes.size() << 1 | 1, to);
  std::memcpy(to, bytes.data(), bytes.size());
  return to + bytes.size();
}

/// Returns how many whole bytes from `begin` on are equal, if all their bits are.
std::size_t equal_bytes(std::span<const std::uint8_t> bytes, std::size_t begin) {
  const std::uint8_t first = bytes[begin];
  if (first != 0 && first != 0xff) return 0;
  const auto* const end = std::find_if(bytes.data() + begin, bytes.data() + bytes.size(),
                                       [first](std::uint8_t byte) { return byte != first; });
  return static_cast<std::size_t>(end - (bytes.data() + begin));
}

}  // namespace

void write_level_run(unsigned level, std::size_t count, std::string& out) {
  append(out, kHeaders,
         [&](char* to) { return put_run(static_cast<std::uint16_t>(level), count, 1, to); });
}

// Packed numbers come in whole groups, so a run may begin only where a group does.
void write_rle(std::span<const std::uint16_t> numbers, unsigned width, std::string& out) {
  const std::size_t most = (numbers.size() / kGroup + 2) * (width + kHeaders) + kPast;
  append(out, most, [&](char* to) {
    std::size_t packed_from = 0;
    std::size_t at = 0;
    while (at + kGroup <= numbers.size()) {
      if (!group_is_equal(numbers.data() + at)) {
        at += kGroup;
        continue;
      }
      to = put_packed(numbers.subspan(packed_from, at - packed_from), width, to);
      const std::size_t run = run_at(numbers, at);
      to = put_run(numbers[at], run, width, to);
      at += run;
      packed_from = at;
    }
    return put_packed(numbers.subspan(packed_from), width, to);
  });
}

// The last byte may be filled with zeros, so it is in no run of others.
void write_levels(const LevelBits& levels, std::string& out) {
  const std::span<const std::uint8_t> bytes = levels.bytes();
  const std::span<const std::uint8_t> whole = bytes.first(levels.size() / 8);
  append(out, bytes.size() + (bytes.size() / kShortestBytes + 2) * kHeaders, [&](char* to) {
    std::size_t packed_from = 0;
    std::size_t at = 0;
    while (at < whole.size()) {
      const std::size_t equal = equal_bytes(whole, at);
      if (equal >= kShortestBytes) {
        to = put_bytes(whole.subspan(packed_from, at - packed_from), to);
        to = put_run(whole[at] & 1U, equal * 8, 1, to);
        packed_from = at + equal;
      }
      at += std::max<std::size_t>(equal, 1);
    }
    return put_bytes(bytes.subspan(packed_from), to);
  });
}

}  // namespace forebay::parquet
