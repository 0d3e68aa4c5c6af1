#pragma once

#include <bit>
#include <cstdint>

#include "core/base/random.h"

namespace forebay {

/// A keyed permutation of [0, size) that computes each element on demand, without a table.
///
/// A balanced Feistel network of four rounds over the smallest even number of bits that holds
/// `size`, walked until it lands inside (Black and Rogaway, "Ciphers with Arbitrary Finite
/// Domains", 2002; fewer than four steps on average). A value; the same on every machine.
class Permutation {
 public:
  /// `size` >= 1.
  constexpr Permutation(std::uint64_t size, std::uint64_t key)
      : size_(size),
        half_bits_((static_cast<unsigned>(std::bit_width(size - 1)) + 1) / 2),
        key_(key) {}

  /// The image of `i` < size.
  constexpr std::uint64_t operator()(std::uint64_t i) const {
    do {
      i = encrypt(i);
    } while (i >= size_);
    return i;
  }

 private:
  constexpr std::uint64_t encrypt(std::uint64_t block) const {
    const std::uint64_t mask = (std::uint64_t{1} << half_bits_) - 1;
    std::uint64_t left = block >> half_bits_;
    std::uint64_t right = block & mask;
    for (std::uint64_t round = 0; round < 4; ++round) {
      const std::uint64_t mixed = left ^ (mix64(key_ + round, right) & mask);
      left = right;
      right = mixed;
    }
    return left << half_bits_ | right;
  }

  std::uint64_t size_;
  unsigned half_bits_;
  std::uint64_t key_;
};

}  // namespace forebay
