#pragma once

#include <chrono>

namespace forebay {

/// A monotonic clock: it never goes back. Thread-safe.
///
/// Callers receive their clock as an argument, so that a test can advance time by hand.
class Clock {
 public:
  virtual ~Clock() = default;

  /// The time since an arbitrary fixed start; only differences have a meaning.
  virtual std::chrono::nanoseconds now() const = 0;
};

/// The machine's monotonic clock.
class SystemClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override;
};

}  // namespace forebay
