#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/clock.h"
#include "core/base/thread/start_thread.h"

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

/// Fires a TimerQueue by the clock. Owns the queue and one thread, which starts with the first
/// added function.
class TimerThread {
 public:
  explicit TimerThread(const Clock& clock)
      : clock_(clock), queue_([this](TimerQueue::Time due) { wake(due); }) {}
  ~TimerThread() { stop(); }
  TimerThread(const TimerThread&) = delete;
  TimerThread& operator=(const TimerThread&) = delete;

  TimerQueue& queue() { return queue_; }

  /// Stops firing; the queue remains, so that its functions can still be cancelled.
  void stop();

 private:
  void wake(TimerQueue::Time due);
  void run();

  const Clock& clock_;
  TimerQueue queue_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool sooner_ = false;  // under mutex_
  // The time that the thread sleeps until; under mutex_. The timer of a question is usually due
  // later than that of an earlier question, and then the thread need not be woken.
  std::optional<TimerQueue::Time> sleeps_until_;
  bool stopping_ = false;         // under mutex_
  std::optional<Thread> thread_;  // started under mutex_
};

}  // namespace forebay
