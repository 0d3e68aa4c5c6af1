#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

#include "core/base/clock.h"

namespace forebay {

/// The number of the model's threads between the trainer, which reports it, and the central tuner
/// beside the trainer, which advises another.
///
/// Advice is a number, never a difference, so advice that comes twice or late does no harm. Any
/// thread may call it. The clock outlives it.
class ThreadAdvice {
 public:
  /// The central tuner is silent once kSilent of these periods passed without a decision; those
  /// before the first report do not count.
  static constexpr int kSilent = 5;
  ThreadAdvice(const Clock& clock, std::chrono::nanoseconds period)
      : clock_(clock), patience_(kSilent * period) {}

  /// The trainer has so many threads, and may have `most`; 0: they may not be changed now.
  void report(int threads, int most) {
    threads_ = static_cast<std::uint32_t>(threads);
    most_ = static_cast<std::uint32_t>(most);
    std::int64_t never = kNever;
    heard_.compare_exchange_strong(never, clock_.now().count());
  }
  std::uint32_t threads() const { return threads_; }
  std::uint32_t most() const { return most_; }

  /// The central tuner has decided; 0: the trainer keeps its number.
  void advise(std::uint32_t threads) {
    advised_ = threads;
    heard_ = clock_.now().count();
  }
  /// Returns the latest advice; 0: keep the number; nullopt: the central tuner is silent.
  std::optional<int> latest() const {
    const std::chrono::nanoseconds heard(heard_.load());
    if (heard.count() != kNever && clock_.now() - heard > patience_) return std::nullopt;
    return static_cast<int>(advised_.load());
  }

 private:
  static constexpr std::int64_t kNever = -1;

  const Clock& clock_;
  const std::chrono::nanoseconds patience_;
  std::atomic<std::int64_t> heard_{kNever};  // of the clock, in ns: the latest decision
  std::atomic<std::uint32_t> advised_{0};
  std::atomic<std::uint32_t> threads_{0};
  std::atomic<std::uint32_t> most_{0};
};

}  // namespace forebay
