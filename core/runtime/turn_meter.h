#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "core/base/clock.h"

namespace forebay {

/// How long one actor has been running, and how often it crashed. Its cell writes, any thread
/// reads.
class TurnMeter {
 public:
  using Time = std::chrono::nanoseconds;

  /// The time of all turns up to `now`, the one that goes on included.
  Time busy(Time now) const {
    const std::int64_t began = began_.load(std::memory_order_relaxed);
    const Time running = began == 0 ? Time(0) : now - Time(began);
    return Time(busy_.load(std::memory_order_relaxed)) + running;
  }
  std::uint32_t crashes() const { return crashes_.load(std::memory_order_relaxed); }

  void begin(Time now) { began_.store(now.count(), std::memory_order_relaxed); }
  void end(Time now) {
    const std::int64_t began = began_.exchange(0, std::memory_order_relaxed);
    busy_.fetch_add(now.count() - began, std::memory_order_relaxed);
  }
  void count_crash() { crashes_.fetch_add(1, std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> busy_{0};
  std::atomic<std::int64_t> began_{0};  // 0: the actor waits for messages
  std::atomic<std::uint32_t> crashes_{0};
};

/// Measures from its construction to its end; nothing if `meter` is null.
class MeteredTurn {
 public:
  MeteredTurn(TurnMeter* meter, const Clock& clock) : meter_(meter), clock_(clock) {
    if (meter_ != nullptr) meter_->begin(clock_.now());
  }
  ~MeteredTurn() {
    if (meter_ != nullptr) meter_->end(clock_.now());
  }
  MeteredTurn(const MeteredTurn&) = delete;
  MeteredTurn& operator=(const MeteredTurn&) = delete;

 private:
  TurnMeter* const meter_;
  const Clock& clock_;
};

}  // namespace forebay
