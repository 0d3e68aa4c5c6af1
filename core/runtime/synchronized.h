#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <utility>

namespace forebay {

/// A value that threads change one at a time and can wait for. Thread-safe.
template <class T = void>
class Synchronized {
 public:
  /// Calls `change_it(value)` under the lock, wakes all waiting threads, and returns its result.
  template <class Change>
  auto change(const Change& change_it) {
    const std::lock_guard lock(mutex_);
    const Wake wake{changed_};
    return change_it(value_);
  }

  /// Blocks until `ready(value)`, then returns `take(value)`.
  template <class Ready, class Visitor>
  auto wait(const Ready& ready, const Visitor& take) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return ready(value_); });
    return take(value_);
  }

  /// Blocks until `ready(value)`, then calls `take(value)`. Returns false after `most`.
  template <class Ready, class Visitor>
  [[nodiscard]] bool wait(std::chrono::nanoseconds most, const Ready& ready, const Visitor& take) {
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

/// Without a value: runs functions of any thread one at a time, to guard variables declared beside
/// it. A function must be short and must not call the same object again.
template <>
class Synchronized<void> {
 public:
  template <class Function>
  decltype(auto) operator()(Function&& function) const {
    const std::lock_guard lock(mutex_);
    return std::forward<Function>(function)();
  }

 private:
  mutable std::mutex mutex_;
};

/// Opens once and releases all waiting threads. Thread-safe.
class Latch {
 public:
  void open() {
    is_open_.change([](bool& is_open) { is_open = true; });
  }

  void wait() {
    is_open_.wait(std::identity(), [](bool) {});
  }

  /// Returns false if the latch was still closed after `most`.
  [[nodiscard]] bool wait_for(std::chrono::nanoseconds most) {
    return is_open_.wait(most, std::identity(), [](bool) {});
  }

 private:
  Synchronized<bool> is_open_;
};

}  // namespace forebay
