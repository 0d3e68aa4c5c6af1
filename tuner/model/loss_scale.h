#pragma once

#include <algorithm>

namespace forebay::tuner {

/// The ratio of a pipeline's loss to noise and the formula's prediction, learned from the measured
/// rates of allocations.
///
/// The measured losses divided by the predicted losses, both summed with slow forgetting, so that
/// one noisy interval has little weight. A value.
class LossScale {
 public:
  /// Adds an interval whose allocation did not change. Both losses are shares of the noise-free
  /// rate; `predicted` is at scale 1.
  void observe(double predicted, double measured) {
    predicted_ = kMemory * predicted_ + std::max(predicted, kLeast);
    measured_ = kMemory * measured_ + std::clamp(measured, -kMost, kMost);
  }
  /// The factor for the formula's losses.
  double value() const {
    return std::clamp((measured_ + 3 * kPrior) / (predicted_ + kPrior), kSmallest, kLargest);
  }

 private:
  static constexpr double kMemory = 0.97;  // per interval
  static constexpr double kPrior = 0.02;   // prior: this much loss, at three times the prediction
  static constexpr double kLeast = 0.0005;
  static constexpr double kMost = 0.2;  // a larger loss is not noise
  static constexpr double kSmallest = 0.5;
  static constexpr double kLargest = 20;

  double predicted_ = 0;
  double measured_ = 0;
};

}  // namespace forebay::tuner
