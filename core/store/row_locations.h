#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace forebay {

/// The locations of many rows: for each row a number up to `most`, initially 0, in as few bytes as
/// `most` requires. Belongs to one thread at a time.
class RowLocations {
 public:
  RowLocations(std::uint64_t rows, std::uint64_t most)
      : rows_(rows), width_(width_of(most)), bytes_(rows * width_ + sizeof(std::uint64_t)) {}

  static std::uint64_t bytes(std::uint64_t rows, std::uint64_t most) {
    return rows * width_of(most) + sizeof(std::uint64_t);
  }

  std::uint64_t rows() const { return rows_; }

  std::uint64_t get(std::uint64_t row) const { return word(row) & mask(); }

  void set(std::uint64_t row, std::uint64_t place) {
    const std::uint64_t now = (word(row) & ~mask()) | place;
    std::memcpy(bytes_.data() + row * width_, &now, sizeof now);
  }

  void prefetch(std::uint64_t row) const { __builtin_prefetch(bytes_.data() + row * width_); }

 private:
  static_assert(std::endian::native == std::endian::little);

  static std::size_t width_of(std::uint64_t most) {
    return (static_cast<std::size_t>(std::bit_width(most)) + 7) / 8;
  }
  /// The number of the row, and the bytes that follow it.
  std::uint64_t word(std::uint64_t row) const {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes_.data() + row * width_, sizeof word);
    return word;
  }
  std::uint64_t mask() const { return ~std::uint64_t{0} >> (64 - 8 * width_); }

  std::uint64_t rows_;
  std::size_t width_;
  std::vector<std::byte> bytes_;
};

}  // namespace forebay
