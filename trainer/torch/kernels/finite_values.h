#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "trainer/torch/kernels/clones.h"

namespace forebay {

/// Tells whether all values that it saw are finite.
///
/// Keeps the largest of their bits without the sign: IEEE 754 orders magnitudes as integers, and
/// infinities and NaNs stand above all numbers. Loops over it are vectorised, unlike those that
/// compare floating-point numbers.
class FiniteValues {
 public:
  FOREBAY_INLINE void see(const float* values, std::size_t count) {
    std::size_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) see(values[i + lane], lane);
    }
    for (; i < count; ++i) see(values[i], 0);
  }
  bool all() const { return std::ranges::max(largest_) < kInfinity; }

 private:
  static constexpr std::size_t kLanes = 16;
  static constexpr std::uint32_t kInfinity = 0x7F800000;
  static constexpr std::uint32_t kMagnitude = 0x7FFFFFFF;

  FOREBAY_INLINE void see(float value, std::size_t lane) {
    largest_[lane] = std::max(largest_[lane], std::bit_cast<std::uint32_t>(value) & kMagnitude);
  }

  std::array<std::uint32_t, kLanes> largest_{};
};

}  // namespace forebay
