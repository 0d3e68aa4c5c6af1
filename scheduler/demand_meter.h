#pragma once

#include "scheduler/scale_input.h"

namespace forebay::scheduler {

/// Measures the rate at which a trainer takes splits while it does not wait: its demand.
///
/// Sums intervals until there are enough splits in them, so that long steps do not look like a
/// change. A rate that departs from the mean counts when it is seen twice in a row. A value.
class DemandMeter {
 public:
  /// Adds an interval. Returns whether the figures below are new.
  bool add(const ScaleInput& input);

  /// Splits per second; 0: not known.
  double demand() const { return demand_; }
  /// Splits per second that the trainer got.
  double taken() const { return taken_; }
  /// The share of time that it waited.
  double starved() const { return starved_; }

 private:
  void follow(double rate);

  ScaleInput sum_;
  double demand_ = 0;
  double taken_ = 0;
  double starved_ = 0;
  bool departed_ = false;
};

}  // namespace forebay::scheduler
