#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace forebay::scheduler {

/// Looks for the fewest workers that bring the rate of a shared limit: by halves, between a number
/// that is enough and one that is too few.
///
/// A number is tried until its mean rate over some intervals says clearly that it is enough or not.
/// A value.
class FewestSearch {
 public:
  /// `enough` workers bring `rate`; `few` workers are fewer than are needed (0: nothing is known).
  FewestSearch(std::uint32_t enough, std::uint32_t few, double rate)
      : enough_(enough), few_(few < enough ? few : 0), rate_(rate) {}

  /// So many workers are too few: a worker makes no more than it could with fewer beside it.
  void rule_out(std::uint32_t workers) { few_ = std::clamp(workers, few_, enough_ - 1); }

  bool done() const { return enough_ == few_ + 1; }
  std::uint32_t fewest() const { return enough_; }
  double rate() const { return rate_; }

  /// The number to try next: `guess`, if it is between the two, or the middle.
  std::uint32_t next(std::uint32_t guess) {
    tried_ = guess > few_ && guess < enough_ ? guess : (enough_ + few_) / 2;
    sum_ = 0;
    intervals_ = 0;
    return tried_;
  }

  /// Adds an interval with the tried number. Returns whether it is known now if that is enough.
  bool add(double rate) {
    sum_ += rate;
    ++intervals_;
    const double share = sum_ / intervals_ / rate_;
    const bool clear = std::abs(share - kEnough) > kUnclear;
    if (intervals_ < (clear ? kFewest : kMost)) return false;
    if (share >= kEnough) {
      enough_ = tried_;
      rate_ += (sum_ / intervals_ - rate_) / 2;
    } else {
      few_ = tried_;
    }
    return true;
  }

  static constexpr double kEnough = 0.93;  ///< Of the rate; less is a loss, not noise.

 private:
  static constexpr double kUnclear = 0.05;
  static constexpr int kFewest = 2;  // intervals
  static constexpr int kMost = 5;

  std::uint32_t enough_;
  std::uint32_t few_;
  double rate_;
  std::uint32_t tried_ = 0;
  double sum_ = 0;
  int intervals_ = 0;
};

}  // namespace forebay::scheduler
