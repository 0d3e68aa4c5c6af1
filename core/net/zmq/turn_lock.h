#pragma once

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace forebay {

/// A lock that knows whether the calling thread holds it, and that another thread can take over.
class TurnLock {
 public:
  void lock() {
    std::unique_lock lock(mutex_);
    freed_.wait(lock, [this] { return !held_; });
    hold();
  }
  bool try_lock() {
    if (is_mine()) return false;
    const std::lock_guard lock(mutex_);
    if (held_) return false;
    hold();
    return true;
  }
  void unlock() {
    {
      const std::lock_guard lock(mutex_);
      owner_.store({}, std::memory_order_relaxed);
      held_ = false;
    }
    freed_.notify_one();
  }
  /// The calling thread holds it from now on, in place of the one that did; that one must know.
  void take_over() { owner_.store(std::this_thread::get_id(), std::memory_order_relaxed); }
  bool is_mine() const {
    return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id();
  }

 private:
  void hold() {
    held_ = true;
    take_over();
  }

  std::mutex mutex_;
  std::condition_variable freed_;
  bool held_ = false;  // under mutex_
  std::atomic<std::thread::id> owner_{};
};

}  // namespace forebay
