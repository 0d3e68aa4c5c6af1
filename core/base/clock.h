#pragma once

#include <chrono>

namespace forebay {

/// Tells how much time has passed; never goes back. Any thread may ask.
///
/// Handed in from outside, so that a test moves time by hand.
class Clock {
 public:
  virtual ~Clock() = default;

  /// Time since some fixed start; only differences mean anything.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// The machine's monotonic clock.
class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
};

}  // namespace forebay
