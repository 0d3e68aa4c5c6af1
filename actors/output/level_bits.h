#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace forebay::parquet {

/// Levels that are 0 or 1, a bit each, from the lowest bit of a byte upwards. Keeps its memory when
/// it is cleared. A value.
class LevelBits {
 public:
  void clear() {
    bytes_.clear();
    count_ = 0;
  }
  bool empty() const { return count_ == 0; }
  std::size_t size() const { return count_; }
  /// The bits past size() are 0.
  std::span<const std::uint8_t> bytes() const { return bytes_; }

  void push_back(unsigned level) {
    if (count_ % 8 == 0) bytes_.push_back(0);
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | level << count_ % 8);
    ++count_;
  }

  /// Makes `count` levels; `level_of(i)` is 0 or 1, and is called in order.
  template <class LevelOf>
  void assign(std::size_t count, const LevelOf& level_of) {
    count_ = count;
    bytes_.resize((count + 7) / 8);
    std::size_t i = 0;
    for (std::uint8_t& byte : bytes_) {
      const std::size_t bits = std::min<std::size_t>(8, count - i);
      unsigned filled = 0;
      if (bits == 8) {
        for (unsigned bit = 0; bit < 8; ++bit) filled |= level_of(i + bit) << bit;
      } else {
        for (unsigned bit = 0; bit < bits; ++bit) filled |= level_of(i + bit) << bit;
      }
      byte = static_cast<std::uint8_t>(filled);
      i += bits;
    }
  }

 private:
  std::vector<std::uint8_t> bytes_;
  std::size_t count_ = 0;
};

}  // namespace forebay::parquet
