#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>

#include "core/base/clock.h"
#include "core/runtime/thread.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

/// Fires a TimerQueue as the clock goes. Owns the queue and one thread, which starts with the
/// first function that is added.
class TimerThread {
 public:
  explicit TimerThread(const Clock& clock)
      : clock_(clock), queue_([this](TimerQueue::Time due) { wake(due); }) {}
  ~TimerThread() { stop(); }
  TimerThread(const TimerThread&) = delete;
  TimerThread& operator=(const TimerThread&) = delete;

  TimerQueue& queue() { return queue_; }

  /// Fires nothing any more; the queue stays, so that what is due can be cancelled.
  void stop();

 private:
  void wake(TimerQueue::Time due);
  void run();

  const Clock& clock_;
  TimerQueue queue_;
  std::mutex mutex_;
  std::condition_variable woken_;
  bool sooner_ = false;  // under mutex_
  // What it sleeps for; under mutex_. A question's timer is as a rule later than that of some
  // question before, and then nobody is woken for it.
  std::optional<TimerQueue::Time> sleeps_until_;
  bool stopping_ = false;         // under mutex_
  std::optional<Thread> thread_;  // started under mutex_
};

}  // namespace forebay
