#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

namespace forebay {

/// Functions and when they are due. Whoever owns the time calls `fire`: a TimerThread, or a test.
///
/// Any thread may call anything; the functions run on the thread that fires, without the lock.
class TimerQueue {
 public:
  using Time = std::chrono::nanoseconds;
  using Key = std::pair<Time, std::uint64_t>;

  /// `on_sooner` is told when a function becomes the first due, on the adding thread.
  explicit TimerQueue(std::function<void(Time due)> on_sooner = {})
      : on_sooner_(std::move(on_sooner)) {}

  Key add(Time due, std::function<void()> function);

  /// Forgets a function that has not begun to run.
  void cancel(const Key& key);

  /// Runs whatever is due; returns when the next one is.
  std::optional<Time> fire(Time now);

 private:
  const std::function<void(Time)> on_sooner_;
  std::mutex mutex_;
  std::map<Key, std::function<void()>> functions_;  // under mutex_
  std::uint64_t num_added_ = 0;                     // under mutex_
};

}  // namespace forebay
