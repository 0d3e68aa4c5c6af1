#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <utility>

namespace forebay {

/// A value that one thread changes and another waits for. Any thread.
template <class T>
class Watched {
 public:
  /// Lets `change(value)` change it, alone; what it returns is returned.
  template <class Change>
  auto change(const Change& change_it) {
    const std::lock_guard lock(mutex_);
    const Wake wake{changed_};
    return change_it(value_);
  }

  /// Waits until `ready(value)`, then does `take(value)`. False after `most`.
  template <class Ready, class Take>
  [[nodiscard]] bool wait(std::chrono::nanoseconds most, const Ready& ready, const Take& take) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait_for(lock, most, [&] { return ready(value_); })) return false;
    take(value_);
    return true;
  }

 private:
  struct Wake {
    std::condition_variable& changed;
    ~Wake() { changed.notify_all(); }
  };

  std::mutex mutex_;
  std::condition_variable changed_;
  T value_{};  // under mutex_
};

}  // namespace forebay
