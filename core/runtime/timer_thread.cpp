#include "core/runtime/timer_thread.h"

namespace forebay {

void TimerThread::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  woken_.notify_one();
  thread_.reset();
}

void TimerThread::wake(TimerQueue::Time due) {
  const std::lock_guard lock(mutex_);
  if (stopping_ || (sleeps_until_ && *sleeps_until_ <= due)) return;
  sooner_ = true;
  if (!thread_) {
    thread_.emplace(Thread::Options{.name = "timers", .stack_bytes = 256 * 1024},
                    [this] { run(); });
  }
  woken_.notify_one();
}

void TimerThread::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    sooner_ = false;
    lock.unlock();
    const std::optional<TimerQueue::Time> due = queue_.fire(clock_.now());
    lock.lock();
    const auto called = [this] { return sooner_ || stopping_; };
    if (called()) continue;
    sleeps_until_ = due.value_or(TimerQueue::Time::max());
    if (due) {
      woken_.wait_for(lock, *due - clock_.now(), called);
    } else {
      woken_.wait(lock, called);
    }
    sleeps_until_.reset();
  }
}

}  // namespace forebay
