#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace forebay {

/// Functions and the times when they are due. A TimerThread or a test calls `fire`.
///
/// Thread-safe; the functions run on the thread that calls `fire`, without the lock.
class TimerQueue {
 public:
  using Time = std::chrono::nanoseconds;
  using Key = std::pair<Time, std::uint64_t>;

  /// `on_sooner` is called on the adding thread when a new function is due before all others.
  explicit TimerQueue(std::function<void(Time due)> on_sooner = {})
      : on_sooner_(std::move(on_sooner)) {}

  Key add(Time due, std::function<void()> function);

  /// Removes a function that has not begun to run.
  void cancel(const Key& key);

  /// Runs all functions that are due; returns the due time of the next one.
  std::optional<Time> fire(Time now);

 private:
  const std::function<void(Time)> on_sooner_;
  std::mutex mutex_;
  std::map<Key, std::function<void()>> functions_;  // under mutex_
  std::uint64_t num_added_ = 0;                     // under mutex_
};

}  // namespace forebay
