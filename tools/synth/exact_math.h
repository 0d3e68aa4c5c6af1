#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace forebay {

/// 2^x and log2 by additions, multiplications and square roots only. IEEE 754 defines the rounding
/// of each, so the bits are the same on every machine, whatever its libm. Error below 1e-6.
class ExactMath {
 public:
  ExactMath();

  /// Returns 2^x for x in [-1000, 1000].
  double exp2(double x) const {
    const auto shifted = static_cast<std::int64_t>((x + kShift) * kFine);
    const auto whole = static_cast<int>(shifted / kFine) - kShift;
    const auto at = static_cast<std::size_t>(shifted % kFine);
    const std::size_t entry = at / kBetween;
    const double part = static_cast<double>(at % kBetween) * (1.0 / kBetween);
    const double mantissa = powers_[entry] + (powers_[entry + 1] - powers_[entry]) * part;
    return std::bit_cast<double>(
        std::bit_cast<std::uint64_t>(mantissa) +
        (static_cast<std::uint64_t>(static_cast<std::int64_t>(whole)) << 52));
  }

  /// Returns log2(n) from the 12 bits after the leading one; n >= 1.
  double log2(std::uint64_t n) const {
    const int exponent = 63 - std::countl_zero(n);
    const std::uint64_t mantissa = n << (63 - exponent);  // The leading bit is bit 63.
    return exponent + logarithms_[(mantissa >> (63 - kLogBits)) & (kLogEntries - 1)];
  }

 private:
  static constexpr int kShift = 1024;  // Makes x positive, so that truncation is floor.
  static constexpr std::int64_t kEntries = 1024;
  static constexpr std::int64_t kBetween = 1 << 14;
  static constexpr std::int64_t kFine = kEntries * kBetween;
  static constexpr int kLogBits = 12;
  static constexpr std::size_t kLogEntries = 1U << kLogBits;

  std::array<double, kEntries + 1> powers_;     // 2^(i / kEntries)
  std::array<double, kLogEntries> logarithms_;  // log2(1 + i / kLogEntries)
};

}  // namespace forebay
