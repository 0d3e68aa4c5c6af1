#pragma once

#include <cstring>

#include "actors/format/criteo_find.h"

namespace forebay {
namespace {

constexpr std::uint64_t kZeros = 0x3030303030303030;
constexpr std::uint64_t kTops = 0x8080808080808080;

/// The `size` ≤ 8 bytes at `at` as the last ones of a word, '0' before them.
inline std::uint64_t word_of(const char* at, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  // Shifts in two halves, since a shift by 64 is none.
  const std::size_t half = 4 * size;
  return word << (32 - half) << (32 - half) | kZeros >> half >> half;
}

/// Bit 7 of each byte: it is not a digit.
inline std::uint64_t not_digits(std::uint64_t word) {
  const std::uint64_t digits = word ^ kZeros;  // 0 … 9 for digits, and only for them.
  return (((digits & ~kTops) + 0x7676767676767676) | digits) & kTops;
}

inline std::uint64_t eight_digits(std::uint64_t word) {
  word -= kZeros;
  word = word * 10 + (word >> 8);
  return (((word & 0x000000FF000000FF) * 0x000F424000000064) +
          (((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001)) >>
         32;
}

/// Fields are often empty at random, so nothing here branches on that.
inline void read_int(const char* at, std::size_t size, float& value, std::uint64_t& odd) {
  if (size > 8) [[unlikely]] {
    odd = 1;
    return;
  }
  const std::uint64_t minus = *at == '-' ? 1 : 0;  // Never where the field is empty.
  const std::size_t digits = size - minus;
  const std::uint64_t word = word_of(at + minus, digits);
  odd |= not_digits(word) | (minus & (digits - 1) >> 63);
  const std::uint64_t number = (eight_digits(word) ^ (0 - minus)) + minus;
  const auto bits =
      __builtin_bit_cast(std::uint32_t, static_cast<float>(static_cast<std::int32_t>(number)));
  const auto empty = static_cast<std::uint32_t>((size - 1) >> 63);
  value = __builtin_bit_cast(float, bits ^ ((bits ^ kMissingBits) & (0 - empty)));
}

inline void read_token(const char* at, std::size_t size, std::int64_t& value, std::uint64_t& odd) {
  if (size > 8) [[unlikely]] {
    odd = 1;
    return;
  }
  const std::uint64_t word = word_of(at, size);
  // Letters: in lower case a … f become 1 … 6, digits lie below '@' and keep bit 6 clear.
  const std::uint64_t letters = word >> 6 & 0x0101010101010101;
  const std::uint64_t letter_bytes = letters * 0xff;
  const std::uint64_t rank = (word & 0x1f1f1f1f1f1f1f1f) & letter_bytes;  // 1 … 6 for a … f, A … F.
  const std::uint64_t past_f = (rank + 0x7979797979797979) & kTops;   // > 6
  const std::uint64_t below_a = (kTops | rank) - 0x0101010101010101;  // Bit 7 clear: rank 0.
  const std::uint64_t bad_letters = (past_f | (~below_a & kTops)) & (letter_bytes & kTops);
  odd |= (word & kTops) | bad_letters | (not_digits(word) & ~letter_bytes);
  std::uint64_t nibbles = (word & 0x0f0f0f0f0f0f0f0f) + letters * 9;
  nibbles = (nibbles * 0x10 + (nibbles >> 8)) & 0x00ff00ff00ff00ff;
  nibbles = (nibbles * 0x100 + (nibbles >> 16)) & 0x0000ffff0000ffff;
  value = static_cast<std::int64_t>((nibbles * 0x10000 + (nibbles >> 32)) & 0xffffffff);
}

/// One pass over a group, column by column, so that each column's memory is written in a run.
/// Nothing is appended for good before `commit`.
class WordPass {
 public:
  WordPass(const char* text, const CriteoGroup& group, std::size_t rows, std::uint32_t picked,
           CriteoTarget& target)
      : text_(text), marks_(group.marks), rows_(rows), picked_(picked), target_(target) {
    if (rows < 32) picked_ &= (std::uint32_t{1} << rows) - 1;
  }

  /// Returns which rows are not plain, a bit each.
  std::uint32_t run() {
    labels();
    for (std::size_t i = 0; i < CriteoRow::kInts; ++i) ints(i);
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) tokens(i);
    std::uint32_t rows = 0;
    for (std::size_t row = 0; row < rows_; ++row) rows |= std::uint32_t{odd_[row] != 0} << row;
    return rows;
  }

  void commit() {
    target_.rows += count_bits(picked_);
    for (std::size_t i = 0; i < CriteoRow::kTokens; ++i) {
      if (target_.tokens[i] != nullptr) target_.tokens[i]->count = counts_[i];
    }
  }

 private:
  struct Field {
    const char* at;
    std::size_t size;
  };

  Field field(std::size_t row, std::size_t i) const {
    const std::int32_t* const mark = marks_ + CriteoRow::kFields * row + i;
    return {text_ + mark[0] + 1, static_cast<std::size_t>(mark[1] - mark[0] - 1)};
  }

  void labels() {
    std::size_t to = target_.rows;
    for (std::size_t row = 0; row < rows_; ++row) {
      const Field label = field(row, 0);
      const auto value = static_cast<unsigned char>(*label.at - '0');
      odd_[row] = label.size != 1 || value > 1 ? 1 : 0;
      target_.labels[to] = static_cast<float>(value);
      to += picked_ >> row & 1;
    }
  }

  void ints(std::size_t i) {
    float values[CriteoGroup::kRows];
    for (std::size_t row = 0; row < rows_; ++row) {
      const Field text = field(row, 1 + i);
      read_int(text.at, text.size, values[row], odd_[row]);
    }
    if (target_.ints[i] == nullptr) return;
    float* to = target_.ints[i] + target_.rows;
    for (std::size_t row = 0; row < rows_; ++row) {
      *to = values[row];
      to += picked_ >> row & 1;
    }
  }

  void tokens(std::size_t i) {
    std::int64_t ids[CriteoGroup::kRows];
    std::uint32_t present = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      Field text = field(row, 1 + CriteoRow::kInts + i);
      if (i + 1 == CriteoRow::kTokens && text.size != 0 && text.at[text.size - 1] == '\r') {
        --text.size;
      }
      read_token(text.at, text.size, ids[row], odd_[row]);
      present |= std::uint32_t{text.size != 0} << row;
    }
    if (target_.tokens[i] != nullptr) put_ids(i, ids, present & picked_, *target_.tokens[i]);
  }

  void put_ids(std::size_t i, const std::int64_t* ids, std::uint32_t present, SparseFill& column) {
    std::size_t count = column.count;
    if (!column.jagged && present != picked_) column.start_offsets(target_.rows);
    if (column.jagged) {
      std::size_t ends = count;
      std::int32_t* offset = column.offsets + target_.rows;
      for (std::size_t row = 0; row < rows_; ++row) {
        ends += present >> row & 1;
        offset += picked_ >> row & 1;
        *offset = static_cast<std::int32_t>(ends);
      }
    }
    for (std::size_t row = 0; row < rows_; ++row) {
      column.values[count] = ids[row];
      count += present >> row & 1;
    }
    counts_[i] = count;
  }

  const char* const text_;
  const std::int32_t* const marks_;
  const std::size_t rows_;
  std::uint32_t picked_;
  CriteoTarget& target_;
  std::uint64_t odd_[CriteoGroup::kRows];  // Per row; 0: plain so far.
  std::size_t counts_[CriteoRow::kTokens];
};

/// CriteoKernel::decode, eight bytes at a time.
inline std::size_t decode_words(const char* text, const CriteoGroup& group, std::uint32_t picked,
                                CriteoTarget& target) {
  std::size_t rows = group.rows;
  while (rows != 0) {
    WordPass pass(text, group, rows, picked, target);
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
      // Once no bit is left this is any offset; it is written over by the next step.
      out[i] = base + static_cast<std::int32_t>(__builtin_ctzll(ends | std::uint64_t{1} << 63));
      ends &= ends - 1;
    }
    out += 8;
  } while (ends != 0);
}

}  // namespace
}  // namespace forebay
