#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/random.h"
#include "tools/synth/exact_math.h"

namespace forebay {

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
