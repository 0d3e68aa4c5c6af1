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

/// One field of the rows of a group. The entries behind `rows` are offsets inside the text with
/// arbitrary sizes, so that a reader may read several rows at once.
struct FieldColumn {
  std::size_t rows = 0;
  alignas(64) std::int32_t begin[CriteoGroup::kRows];
  alignas(64) std::int32_t size[CriteoGroup::kRows];

  std::size_t size_of(std::size_t row) const { return static_cast<std::size_t>(size[row]); }
};

/// One pass over a group, column by column, so that each column's memory is written sequentially.
/// Appended values become part of the target only in `commit`.
template <class Reader>
class ColumnPass {
 public:
  ColumnPass(const char* text, const CriteoGroup& group, std::size_t rows, std::uint32_t picked,
             CriteoTarget& target)
      : text_(text), marks_(group.marks), picked_(picked), target_(target) {
    field_.rows = rows;
    if (rows < 32) picked_ &= (std::uint32_t{1} << rows) - 1;
  }

  /// Returns a bit for each row that is not plain.
  std::uint32_t run() {
    labels();
    for (std::size_t i = 0; i < CriteoRow::kInts; ++i) ints(i);
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) tokens(i);
    std::uint32_t rows = 0;
    for (std::size_t row = 0; row < field_.rows; ++row)
      rows |= std::uint32_t{odd_[row] != 0} << row;
    return rows;
  }

  void commit() {
    target_.rows += count_bits(picked_);
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) {
      if (target_.tokens[i] != nullptr) target_.tokens[i]->count = counts_[i];
    }
  }

 private:
  /// Advances to field `i`, the field after the previous call's.
  void take_field(std::size_t i) {
    for (std::size_t row = 0; row < CriteoGroup::kRows; ++row) {
      const std::int32_t* const mark = marks_ + CriteoRow::kFields * row + i;
      field_.begin[row] = mark[0] + 1;
      field_.size[row] = mark[1] - mark[0] - 1;
    }
  }

  void drop_returns() {
    for (std::size_t row = 0; row < field_.rows; ++row) {
      const std::int32_t end = field_.begin[row] + field_.size[row];
      field_.size[row] -= field_.size[row] != 0 && text_[end - 1] == '\r' ? 1 : 0;
    }
  }

  void labels() {
    take_field(0);
    std::size_t to = target_.rows;
    for (std::size_t row = 0; row < field_.rows; ++row) {
      const auto value = static_cast<unsigned char>(text_[field_.begin[row]] - '0');
      odd_[row] = field_.size[row] != 1 || value > 1 ? 1 : 0;
      target_.labels[to] = static_cast<float>(value);
      to += picked_ >> row & 1;
    }
  }

  void ints(std::size_t i) {
    alignas(64) float values[CriteoGroup::kRows];
    take_field(1 + i);
    Reader::ints(text_, field_, values, odd_);
    if (target_.ints[i] == nullptr) return;
    float* to = target_.ints[i] + target_.rows;
    for (std::size_t row = 0; row < field_.rows; ++row) {
      *to = values[row];
      to += picked_ >> row & 1;
    }
  }

  void tokens(std::size_t i) {
    alignas(64) std::int64_t ids[CriteoGroup::kRows];
    take_field(1 + CriteoRow::kInts + i);
    if (i + 1 == CriteoRow::kTokens) drop_returns();
    Reader::tokens(text_, field_, ids, odd_);
    std::uint32_t present = 0;
    for (std::size_t row = 0; row < field_.rows; ++row) {
      present |= std::uint32_t{field_.size[row] != 0} << row;
    }
    if (target_.tokens[i] != nullptr) put_ids(i, ids, present & picked_, *target_.tokens[i]);
  }

  void put_ids(std::size_t i, const std::int64_t* ids, std::uint32_t present, SparseFill& column) {
    std::size_t count = column.count;
    if (!column.jagged && present != picked_) column.start_offsets(target_.rows);
    if (column.jagged) {
      std::size_t ends = count;
      std::int32_t* offset = column.offsets + target_.rows;
      for (std::size_t row = 0; row < field_.rows; ++row) {
        ends += present >> row & 1;
        offset += picked_ >> row & 1;
        *offset = static_cast<std::int32_t>(ends);
      }
    }
    for (std::size_t row = 0; row < field_.rows; ++row) {
      column.values[count] = ids[row];
      count += present >> row & 1;
    }
    counts_[i] = count;
  }

  const char* const text_;
  const std::int32_t* const marks_;
  std::uint32_t picked_;
  CriteoTarget& target_;
  FieldColumn field_;
  alignas(64) std::uint64_t odd_[CriteoGroup::kRows] = {};  // Per row; 0: plain so far.
  std::size_t counts_[CriteoRow::kTokens];
};

/// CriteoKernel::decode, column by column.
template <class Reader>
std::size_t decode_columns(const char* text, const CriteoGroup& group, std::uint32_t picked,
                           CriteoTarget& target) {
  std::size_t rows = group.rows;
  while (rows != 0) {
    ColumnPass<Reader> pass(text, group, rows, picked, target);
    const std::uint32_t odd = pass.run();
    if (odd == 0) {
      pass.commit();
      break;
    }
    rows = static_cast<std::size_t>(__builtin_ctz(odd));
  }
  return rows;
}

/// Writes the offsets of the set bits of `ends`, eight at a time, so that few branches depend on
/// how many there are.
inline void write_offsets(std::uint64_t ends, std::int32_t base, std::int32_t* out) {
  do {
    for (int i = 0; i < 8; ++i) {
      // Once no bit is left this is an arbitrary offset, which the next step overwrites.
      out[i] = base + static_cast<std::int32_t>(__builtin_ctzll(ends | std::uint64_t{1} << 63));
      ends &= ends - 1;
    }
    out += 8;
  } while (ends != 0);
}

}  // namespace
}  // namespace forebay
