#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::parquet {

/// Finds the distinct values of a column chunk, in the order of their first occurrence.
///
/// Owns its table and reuses it. Belongs to one thread. `Word` holds a value's bits.
template <class Word>
class Dictionary {
 public:
  /// Returns whether a dictionary takes clearly less space than the values themselves; only then
  /// are entries() and indices() complete.
  bool build(std::span<const Word> values) {
    num_entries_ = 0;
    const std::size_t most = std::min(values.size() * kMostSixteenths / 16, kMostEntries);
    if (most == 0) return false;
    start(values.size(), most);
    const std::size_t early = std::min(values.size(), kEarly);
    if (!add(values, 0, early, std::min(most, kEarly * 11 / 16))) return false;
    if (!add(values, early, values.size(), most)) return false;
    return num_entries_ * sizeof(Word) + values.size() * width() / 8 < values.size() * kMostBytes;
  }

  std::span<const Word> entries() const { return {entries_.data(), num_entries_}; }
  std::span<const std::uint16_t> indices() const { return {indices_.data(), num_values_}; }
  /// Returns the bits of an index; at least 1.
  unsigned width() const {
    return std::max(1U, static_cast<unsigned>(std::bit_width(num_entries_ - 1)));
  }

 private:
  /// An index takes 16 bits.
  static constexpr std::size_t kMostEntries = std::size_t{1} << 16;
  /// Bytes that a value may take in the mean: three quarters of 4; a half of 8, since differences
  /// of ids take about 4.
  static constexpr std::size_t kMostBytes = sizeof(Word) == 4 ? 3 : 4;
  /// More distinct values than this share take more.
  static constexpr std::size_t kMostSixteenths = 6;
  static constexpr std::size_t kEarly =
      1024;  ///< Values after which a hopeless column is given up.

  void start(std::size_t values, std::size_t most) {
    const std::size_t slots = std::bit_ceil(2 * most + 2);
    table_.assign(slots, 0);
    shift_ = 64 - static_cast<unsigned>(std::countr_zero(slots));
    num_values_ = values;
    if (indices_.size() < values) indices_.resize(values);
    if (entries_.size() < most) entries_.resize(most);
  }

  /// Adds values [begin, end); returns false as soon as there are more than `most` entries. What
  /// the loop uses is in local variables, since its stores could change any member.
  bool add(std::span<const Word> values, std::size_t begin, std::size_t end, std::size_t most) {
    const std::size_t mask = table_.size() - 1;
    const unsigned shift = shift_;
    std::uint32_t* const table = table_.data();
    std::uint16_t* const indices = indices_.data();
    Word* const entries = entries_.data();
    std::size_t count = num_entries_;
    std::size_t i = begin;
    for (; i < end; ++i) {
      const Word value = values[i];
      auto slot = static_cast<std::size_t>(value * 0x9e3779b97f4a7c15ULL >> shift);
      std::uint32_t entry = table[slot];
      while (entry != 0 && entries[entry - 1] != value) {
        slot = (slot + 1) & mask;
        entry = table[slot];
      }
      if (entry == 0) {
        if (count == most) break;
        entries[count++] = value;
        entry = static_cast<std::uint32_t>(count);
        table[slot] = entry;
      }
      indices[i] = static_cast<std::uint16_t>(entry - 1);
    }
    num_entries_ = count;
    return i == end;
  }

  std::vector<std::uint32_t> table_;  // of 1 + the number of an entry; 0: free
  std::vector<Word> entries_;         // those of num_entries_ are valid
  std::size_t num_entries_ = 0;
  std::vector<std::uint16_t> indices_;  // those of num_values_ are valid
  std::size_t num_values_ = 0;
  unsigned shift_ = 0;
};

}  // namespace forebay::parquet
