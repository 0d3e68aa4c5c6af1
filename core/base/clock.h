#pragma once

#include <chrono>
#include <ctime>

namespace forebay {

/// Returns the CPU time that a thread has used, by default the calling one; waiting for a CPU does
/// not count.
inline std::chrono::nanoseconds thread_cpu_time(clockid_t thread = CLOCK_THREAD_CPUTIME_ID) {
  timespec used = {};
  ::clock_gettime(thread, &used);
  return std::chrono::seconds(used.tv_sec) + std::chrono::nanoseconds(used.tv_nsec);
}

/// `time` as a number, as rates, metrics and messages have it.
constexpr double in_seconds(std::chrono::nanoseconds time) {
  return std::chrono::duration<double>(time).count();
}

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
  std::chrono::nanoseconds now() const override {
    return std::chrono::steady_clock::now().time_since_epoch();
  }
};

}  // namespace forebay
