#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/random.h"

namespace forebay {

/// The waits between the attempts of one request: full jitter, up to 20 s.
///
/// Each wait is uniform in [0, cap), and the cap doubles from 100 ms, so that clients that a store
/// refused together do not come back together.
class Backoff {
 public:
  std::chrono::nanoseconds next(Random& random);

 private:
  int attempts_ = 0;
};

/// Decides when a request that waits for bytes is worth a second one. A value; one thread.
///
/// Watches the longest wait for a byte of each finished request; a request that waits longer than
/// the 95th percentile of the last 256 may be hedged, as long as hedges are at most 5 % of all
/// requests and a few at the start. Half of what may be spent at once is kept for waits four times
/// as long: those of a body that stalled.
class HedgeRule {
 public:
  void add_request() { budget_ = budget_ + kShare > kMostBudget ? kMostBudget : budget_ + kShare; }
  void add_longest_wait(std::chrono::nanoseconds wait);
  /// Returns whether a request that waits `wait` for its next byte may be hedged now.
  bool allows(std::chrono::nanoseconds wait) const;
  /// Pays for a hedge.
  void spend() { budget_ -= 1; }

  /// The 95th percentile; very long before there are 20 figures.
  std::chrono::nanoseconds percentile() const;

 private:
  static constexpr std::size_t kKept = 256;
  static constexpr double kShare = 0.05;
  static constexpr double kMostBudget = 8;

  std::array<std::int64_t, kKept> waits_{};  // a ring, in ns
  std::size_t num_waits_ = 0;                // ever
  mutable std::chrono::nanoseconds percentile_{0};
  mutable std::size_t percentile_of_ = 0;  // num_waits_ when it was computed
  double budget_ = 4;
};

}  // namespace forebay
