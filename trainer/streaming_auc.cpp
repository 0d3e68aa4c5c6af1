#include "trainer/streaming_auc.h"

#include <bit>

namespace forebay {
namespace {

constexpr int kBits = 20;

/// The upper bits of a float as a number in the same order; both zeros map to one bin.
std::size_t bin_of(float score) {
  const auto bits = std::bit_cast<std::uint32_t>(score == 0 ? 0.0F : score);
  const std::uint32_t in_order = (bits >> 31) == 0 ? bits | 0x80000000U : ~bits;
  return in_order >> (32 - kBits);
}

}  // namespace

StreamingAuc::StreamingAuc() : bins_(std::size_t{1} << kBits) {
  static_assert((std::size_t{1} << kBits) * sizeof(Bin) == kBytes);
}

void StreamingAuc::add(float score, bool positive) {
  Bin& bin = bins_[bin_of(score)];
  ++(positive ? bin.positives : bin.negatives);
}

std::optional<StreamingAuc::Area> StreamingAuc::area() const {
  // Sums of whole numbers; above 2^53 the rounding error is far below the bins' error.
  double positives = 0;
  double negatives = 0;
  double wins = 0;
  double ties = 0;
  for (const Bin& bin : bins_) {
    const auto high = static_cast<double>(bin.positives);
    const auto low = static_cast<double>(bin.negatives);
    wins += high * negatives;
    ties += high * low;
    positives += high;
    negatives += low;
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  const double pairs = positives * negatives;
  return Area{.auc = (wins + ties / 2) / pairs, .error = ties / 2 / pairs};
}

}  // namespace forebay
