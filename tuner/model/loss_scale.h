#pragma once

#include <algorithm>

namespace forebay::tuner {

/// How much more (or less) a pipeline loses to noise than the formula says: learnt from what
/// allocations were measured to bring.
///
/// The ratio of losses measured to losses predicted, both summed with slow forgetting, so that one
/// noisy interval says little. A value.
class LossScale {
 public:
  /// An interval whose allocation stood: shares of the noise-free rate, `predicted` at scale 1.
  void observe(double predicted, double measured) {
    predicted_ = kMemory * predicted_ + std::max(predicted, kLeast);
    measured_ = kMemory * measured_ + std::clamp(measured, -kMost, kMost);
  }
  /// What the formula's losses are to be multiplied by.
  double value() const {
    return std::clamp((measured_ + 3 * kPrior) / (predicted_ + kPrior), kSmallest, kLargest);
  }

 private:
  static constexpr double kMemory = 0.97;  // an interval
  static constexpr double kPrior =
      0.02;  // worth so much loss seen, at three times what was predicted
  static constexpr double kLeast = 0.0005;
  static constexpr double kMost = 0.2;  // more than this is not noise
  static constexpr double kSmallest = 0.5;
  static constexpr double kLargest = 20;

  double predicted_ = 0;
  double measured_ = 0;
};

}  // namespace forebay::tuner
