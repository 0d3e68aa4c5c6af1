#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace forebay {

/// Opens once and releases all waiting threads. Thread-safe.
class Latch {
 public:
  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    opened_.notify_all();
  }

  void wait() {
    std::unique_lock lock(mutex_);
    opened_.wait(lock, [this] { return open_; });
  }

  /// Returns false if the latch was still closed after `most`.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds most) {
    std::unique_lock lock(mutex_);
    return opened_.wait_for(lock, most, [this] { return open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable opened_;
  bool open_ = false;  // under mutex_
};

}  // namespace forebay
