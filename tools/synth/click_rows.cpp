#include "tools/synth/click_rows.h"

#include <charconv>
#include <cmath>

namespace forebay {
namespace {

// Computes log2(x) for x in [1, 2), one bit at a time: squaring doubles the logarithm.
double log2_by_squaring(double x) {
  double result = 0;
  double bit = 0.5;
  for (int i = 0; i < 40; ++i, bit /= 2) {
    x *= x;
    if (x < 2) continue;
    x /= 2;
    result += bit;
  }
  return result;
}

// Distinct values of C1..C26: those of the Terabyte logs (as published by MLPerf), the largest ones
// reduced to a few million.
constexpr std::array<std::uint32_t, ClickRow::kTokens> kValues = {
    4'000'000, 36'746,    17'245,    7'413,     20'243,  3,      7'114, 1'441, 62,
    3'000'000, 1'572'176, 345'138,   10,        2'209,   11'267, 128,   4,     974,
    14,        4'500'000, 2'500'000, 4'200'000, 452'104, 12'606, 104,   35};

// log2 of the largest value of each of I1..I13, and what one doubling of 1 + the number adds to the
// logit.
struct NumberRule {
  double log2_most;
  double slope;
};
constexpr std::array<NumberRule, ClickRow::kNumbers> kNumberRules = {{{8, 0.16},
                                                                      {14, -0.07},
                                                                      {11, 0.05},
                                                                      {6, 0.10},
                                                                      {19, -0.09},
                                                                      {14, -0.06},
                                                                      {9, 0.13},
                                                                      {6, -0.08},
                                                                      {11, 0.04},
                                                                      {4, 0.18},
                                                                      {7, 0.12},
                                                                      {5, 0.06},
                                                                      {8, -0.10}}};
constexpr std::size_t kNegativeColumn = 1;  // I2 begins at -3.
constexpr std::int64_t kNegativeShift = 3;

// Fields that are empty together, and in how many of 2¹⁶ rows.
struct EmptyRule {
  std::uint32_t fields;
  std::uint32_t share;
};
constexpr EmptyRule kEmptyNumbers[] = {{1U << 0, 14172},
                                       {1U << 1, 5980},
                                       {1U << 2 | 1U << 12, 16302},
                                       {1U << 3, 33014},
                                       {1U << 4 | 1U << 10, 28754},
                                       {1U << 5 | 1U << 9, 5489},
                                       {1U << 6, 1720},
                                       {1U << 11, 819}};
constexpr EmptyRule kEmptyTokens[] = {
    {1U << 0 | 1U << 9 | 1U << 10 | 1U << 19 | 1U << 20 | 1U << 21, 1393},
    {1U << 13 | 1U << 15 | 1U << 16 | 1U << 22, 30392}};

constexpr double kBias = -3.1;
constexpr double kWeightScale = 0.75;
constexpr double kLog2E = 1.4426950408889634;

// Sixteen bits of a draw decide each rule.
template <std::size_t N>
std::uint32_t draw_empty(const EmptyRule (&rules)[N], Random& random) {
  std::uint32_t empty = 0;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < N; ++i) {
    bits = i % 4 == 0 ? random.next() : bits >> 16;
    if ((bits & 0xffff) < rules[i].share) empty |= rules[i].fields;
  }
  return empty;
}

double fraction(std::uint64_t bits) { return static_cast<double>(bits & 0xffffffffU) * 0x1p-32; }

}  // namespace

ExactMath::ExactMath() {
  powers_.fill(1);
  double root = 2;
  for (std::int64_t step = kEntries / 2; step > 0; step /= 2) {
    root = std::sqrt(root);  // 2^(step / kEntries)
    for (std::size_t i = 0; i < static_cast<std::size_t>(kEntries); ++i) {
      if ((i & static_cast<std::size_t>(step)) != 0) powers_[i] *= root;
    }
  }
  powers_[kEntries] = 2;
  for (std::size_t i = 0; i < kLogEntries; ++i) {
    logarithms_[i] =
        log2_by_squaring(1 + static_cast<double>(i) / static_cast<double>(kLogEntries));
  }
}

ClickRows::ClickRows() {
  constexpr std::uint64_t kRule = 0x7265766c65736565;  // Arbitrary seed of the weights.
  for (std::size_t column = 0; column < ClickRow::kTokens; ++column) {
    log2_values_[column] = math_.log2(kValues[column]);
    for (std::size_t rank = 0; rank < kWeighted; ++rank) {
      const std::uint64_t bits = mix64(mix64(kRule, column), rank);
      const double spread = fraction(bits) * 2 - 1;
      // Rare values have smaller weights, so that a million rows are enough to learn what can be
      // learned.
      const double taper = 1 - math_.log2(rank + 1) / math_.log2(kWeighted);
      weights_[column][rank] = static_cast<float>(kWeightScale * spread * taper);
    }
  }
}

double ClickRows::draw_numbers(Random& random, ClickRow& row) const {
  row.empty_numbers = draw_empty(kEmptyNumbers, random);
  double sum = 0;
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < ClickRow::kNumbers; ++i) {
    bits = i % 2 == 0 ? random.next() : bits >> 32;
    const NumberRule& rule = kNumberRules[i];
    auto number = static_cast<std::int64_t>(math_.exp2(fraction(bits) * rule.log2_most)) - 1;
    if (i == kNegativeColumn) number -= kNegativeShift;
    row.numbers[i] = number;
    const bool counts = number > 0 && (row.empty_numbers >> i & 1) == 0;
    if (counts) sum += rule.slope * math_.log2(static_cast<std::uint64_t>(number) + 1);
  }
  return sum;
}

double ClickRows::draw_tokens(Random& random, ClickRow& row) const {
  row.empty_tokens = draw_empty(kEmptyTokens, random);
  double sum = 0;
  std::uint64_t bits = 0;
  for (std::size_t column = 0; column < ClickRow::kTokens; ++column) {
    bits = column % 2 == 0 ? random.next() : bits >> 32;
    const auto rank =
        static_cast<std::uint64_t>(math_.exp2(fraction(bits) * log2_values_[column])) - 1;
    row.tokens[column] = static_cast<std::uint32_t>(mix64((column << 56) ^ rank) >> 32);
    const bool counts = rank < kWeighted && (row.empty_tokens >> column & 1) == 0;
    if (counts) sum += static_cast<double>(weights_[column][rank]);
  }
  return sum;
}

void ClickRows::make(std::uint64_t seed, std::uint64_t row, ClickRow& into) const {
  Random random(mix64(seed, row));
  const double logit = kBias + draw_numbers(random, into) + draw_tokens(random, into);
  into.chance = 1 / (1 + math_.exp2(-logit * kLog2E));
  into.click = random.uniform() < into.chance;
}

char* write_row(const ClickRow& row, char* out) {
  static constexpr char kDigits[] = "0123456789abcdef";
  *out++ = row.click ? '1' : '0';
  for (std::size_t i = 0; i < ClickRow::kNumbers; ++i) {
    *out++ = '\t';
    if ((row.empty_numbers >> i & 1) != 0) continue;
    out = std::to_chars(out, out + 20, row.numbers[i]).ptr;
  }
  for (std::size_t i = 0; i < ClickRow::kTokens; ++i) {
    *out++ = '\t';
    if ((row.empty_tokens >> i & 1) != 0) continue;
    for (int shift = 28; shift >= 0; shift -= 4) *out++ = kDigits[row.tokens[i] >> shift & 15];
  }
  *out++ = '\n';
  return out;
}

}  // namespace forebay
