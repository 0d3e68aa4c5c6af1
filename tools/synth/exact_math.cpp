#include "tools/synth/exact_math.h"

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

}  // namespace forebay
