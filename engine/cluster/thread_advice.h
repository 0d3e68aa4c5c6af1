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
  /// Advice is silent once none came for kSilent of these periods, the first ones included.
  static constexpr int kSilent = 5;
  ThreadAdvice(const Clock& clock, std::chrono::nanoseconds period)
      : clock_(clock), patience_(kSilent * period), heard_(clock.now().count()) {}

  /// The trainer has so many threads, and may have `most`; 0: they may not be changed now.
  void report(int threads, int most) {
    threads_ = static_cast<std::uint32_t>(threads);
    most_ = static_cast<std::uint32_t>(most);
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
    if (clock_.now() - heard > patience_) return std::nullopt;
    return static_cast<int>(advised_.load());
  }

 private:
  const Clock& clock_;
  const std::chrono::nanoseconds patience_;
  std::atomic<std::int64_t> heard_;  // of the clock, in ns
  std::atomic<std::uint32_t> advised_{0};
  std::atomic<std::uint32_t> threads_{0};
  std::atomic<std::uint32_t> most_{0};
};

}  // namespace forebay
