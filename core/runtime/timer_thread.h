#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "core/runtime/thread.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

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
