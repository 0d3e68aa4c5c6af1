#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/random.h"

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

/// A row of made-up click logs before it is formatted.
struct ClickRow {
  static constexpr std::size_t kNumbers = 13;
  static constexpr std::size_t kTokens = 26;

  bool click = false;
  double chance = 0;                             ///< Probability of a click by the rule below.
  std::array<std::int64_t, kNumbers> numbers{};  ///< I1..I13
  std::array<std::uint32_t, kTokens> tokens{};   ///< C1..C26
  std::uint32_t empty_numbers = 0;               ///< Bit i: I(i+1) is empty.
  std::uint32_t empty_tokens = 0;
};

/// The longest line of a row: a label, 13 numbers of up to 20 characters, 26 tokens of 8, tabs, a
/// newline.
inline constexpr std::size_t kMostRowText = 1 + ClickRow::kNumbers * 21 + ClickRow::kTokens * 9 + 1;

/// Makes click logs with the skew of Criteo's: row `i` of `seed` is a function of these two numbers
/// only.
///
/// Values of a token column are drawn by rank, log-uniformly (Zipf's law with exponent 1) up to the
/// column's number of values; numbers are log-uniform, too. Which fields are empty, and which of
/// them together, follows the first rows of the Terabyte logs. The label is drawn with the
/// probability sigmoid(bias + sum of a weight per frequent token + a slope per number times log2(1
/// + number)); the weights are the same for every seed. Immutable; any thread may call it.
class ClickRows {
 public:
  ClickRows();

  void make(std::uint64_t seed, std::uint64_t row, ClickRow& into) const;

 private:
  double draw_numbers(Random& random, ClickRow& row) const;
  double draw_tokens(Random& random, ClickRow& row) const;

  static constexpr std::size_t kWeighted = 256;  ///< Number of ranks with a weight.

  ExactMath math_;
  std::array<double, ClickRow::kTokens> log2_values_;  ///< Of each token column.
  std::array<std::array<float, kWeighted>, ClickRow::kTokens> weights_;
};

/// Writes `row` as a line of Criteo's format to `out`, which has space for kMostRowText; returns
/// its end.
char* write_row(const ClickRow& row, char* out);

}  // namespace forebay
