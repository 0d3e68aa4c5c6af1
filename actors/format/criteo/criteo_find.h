#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/format/criteo/criteo_kernel.h"

namespace forebay {
// Each kernel is compiled for its own instruction set, so their object files must not share code:
// everything here has internal linkage.
namespace {

/// The tabs and newlines, and the newlines alone, of 64 bytes, a bit each.
struct Marks64 {
  std::uint64_t ends = 0;
  std::uint64_t newlines = 0;
};

/// How far ahead of the scan text is prefetched: beyond the page at which the processor's own
/// prefetcher ends.
inline constexpr std::size_t kAhead = 3072;

/// Counts the set bits without the POPCNT instruction, which not every processor has.
inline std::size_t count_bits(std::uint64_t bits) {
#ifdef __POPCNT__
  return static_cast<std::size_t>(__builtin_popcountll(bits));
#else
  bits -= bits >> 1 & 0x5555555555555555;
  bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
  return (((bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101) >> 56;
#endif
}

/// Number of leading rows, of `count` marks, that have 39 tabs and then a newline.
inline std::size_t whole_rows(const char* text, const CriteoGroup& group, std::size_t count) {
  std::size_t rows = 0;
  for (; (rows + 1) * CriteoRow::kFields <= count; ++rows) {
    const std::int32_t* ends = group.marks + 1 + rows * CriteoRow::kFields;
    for (std::size_t i = 0; i + 1 < CriteoRow::kFields; ++i) {
      if (text[ends[i]] == '\n') return rows;
    }
    if (text[ends[CriteoRow::kFields - 1]] != '\n') return rows;
  }
  return rows;
}

/// CriteoKernel::find, given the vector steps: `Step::read` makes Marks64 of 64 bytes,
/// `Step::write` writes the offsets of the set bits (and arbitrary values behind them, up to 64
/// entries).
template <class Step>
void find_fields(const char* text, std::size_t size, CriteoGroup& group) {
  constexpr std::size_t kLast = CriteoRow::kFields;
  std::int32_t* const marks = group.marks + 1;
  std::size_t count = 0;
  std::size_t newlines = 0;
  std::uint64_t behind = 0;  // Newlines of the last step behind the group's last mark.
  for (std::size_t at = 0; at < size && count < CriteoGroup::kMarks; at += 64) {
    __builtin_prefetch(text + at + kAhead);
    Marks64 found = Step::read(text + at);
    if (size - at < 64) [[unlikely]] {
      const std::uint64_t inside = (std::uint64_t{1} << (size - at)) - 1;
      found = {found.ends & inside, found.newlines & inside};
    }
    Step::write(found.ends, static_cast<std::int32_t>(at), marks + count);
    count += count_bits(found.ends);
    newlines += count_bits(found.newlines);
    if (count >= CriteoGroup::kMarks) {
      const auto last = static_cast<std::size_t>(marks[CriteoGroup::kMarks - 1]) - at;
      behind = last == 63 ? 0 : found.newlines >> (last + 1);
    }
  }
  for (std::size_t i = count; i < CriteoGroup::kMarks; ++i) marks[i] = 0;
  group.marks[0] = -1;
  newlines -= count_bits(behind);
  // With as many newlines as rows and one newline at the end of each row, no newline is anywhere
  // else.
  bool whole = count >= CriteoGroup::kMarks && newlines == CriteoGroup::kRows;
  for (std::size_t row = 1; row <= CriteoGroup::kRows; ++row) {
    whole &= text[marks[row * kLast - 1]] == '\n';
  }
  group.rows =
      whole ? CriteoGroup::kRows
            : whole_rows(text, group, count < CriteoGroup::kMarks ? count : CriteoGroup::kMarks);
}

}  // namespace
}  // namespace forebay
