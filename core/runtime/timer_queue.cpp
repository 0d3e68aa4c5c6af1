#include "core/runtime/timer_queue.h"

namespace forebay {

TimerQueue::Key TimerQueue::add(Time due, std::function<void()> function) {
  Key key;
  bool sooner = false;
  {
    const std::lock_guard lock(mutex_);
    key = {due, num_added_++};
    functions_.emplace(key, std::move(function));
    sooner = functions_.begin()->first == key;
  }
  if (sooner && on_sooner_) on_sooner_(due);
  return key;
}

void TimerQueue::cancel(const Key& key) {
  decltype(functions_)::node_type dropped;  // Destroyed after the lock is released.
  const std::lock_guard lock(mutex_);
  dropped = functions_.extract(key);
}

std::optional<TimerQueue::Time> TimerQueue::fire(Time now) {
  while (true) {
    std::function<void()> due;
    {
      const std::lock_guard lock(mutex_);
      if (functions_.empty()) return std::nullopt;
      const auto first = functions_.begin();
      if (first->first.first > now) return first->first.first;
      due = std::move(first->second);
      functions_.erase(first);
    }
    due();
  }
}

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
