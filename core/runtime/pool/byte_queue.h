#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/result.h"

namespace forebay {

/// A queue between two threads, bounded in bytes.
///
/// One thread puts and one takes; any thread may call the other methods. An empty queue accepts an
/// item of any size. The budget may change at any time and affects only later items. After close()
/// the queued items can still be taken; after stop() or fail() no items can be taken.
template <class T>
class ByteQueue {
 public:
  explicit ByteQueue(std::size_t budget) : budget_(budget) {}

  /// Blocks until the item fits. Returns false after stop(): the item is dropped.
  bool put(T item, std::size_t bytes) {
    std::unique_lock lock(mutex_);
    putter_waits_ = true;
    if (!queue_.empty() && bytes_ + bytes > budget_) ++times_full_;
    room_.wait(lock, [&] { return stopped_ || queue_.empty() || bytes_ + bytes <= budget_; });
    putter_waits_ = false;
    if (stopped_) return false;
    bytes_ += bytes;
    queue_.emplace_back(std::move(item), bytes);
    arrived_.notify_one();
    return true;
  }

  /// Blocks for the next item. Returns nothing at the end or after stop(), or the error given to
  /// fail().
  Result<std::optional<T>> take() {
    std::unique_lock lock(mutex_);
    taker_waits_ = true;
    if (queue_.empty()) ++times_empty_;
    arrived_.wait(lock, [&] { return take_is_ready(); });
    taker_waits_ = false;
    if (stopped_) return std::optional<T>();
    if (error_) return tl::unexpected<Error>(*error_);
    if (queue_.empty()) return std::optional<T>();
    std::optional<T> item = std::move(queue_.front().first);
    bytes_ -= queue_.front().second;
    queue_.pop_front();
    room_.notify_one();
    return item;
  }

  /// Blocks until take() would not block, at most for `most`. Returns whether it would not.
  [[nodiscard]] bool wait(std::chrono::nanoseconds most) {
    std::unique_lock lock(mutex_);
    taker_waits_ = true;
    if (queue_.empty()) ++times_empty_;
    const bool ready = arrived_.wait_for(lock, most, [&] { return take_is_ready(); });
    taker_waits_ = false;
    return ready;
  }

  /// Marks the end: no more items will be put.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    arrived_.notify_all();
  }

  void stop() {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
    queue_.clear();
    bytes_ = 0;
    arrived_.notify_all();
    room_.notify_all();
  }

  /// Makes take() return `error` from now on, unless stopped. The first error is kept.
  void fail(Error error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = std::move(error);
    arrived_.notify_all();
  }

  void set_budget(std::size_t bytes) {
    const std::lock_guard lock(mutex_);
    budget_ = bytes;
    room_.notify_all();
  }

  struct View {
    std::size_t budget = 0;
    std::size_t bytes = 0;
    std::size_t items = 0;
    bool putter_waits = false;
    bool taker_waits = false;
    std::uint64_t times_full = 0;   ///< Puts that had to wait for space,
    std::uint64_t times_empty = 0;  ///< and takes that found no item.
  };
  View view() const {
    const std::lock_guard lock(mutex_);
    return {budget_, bytes_, queue_.size(), putter_waits_, taker_waits_, times_full_, times_empty_};
  }

 private:
  bool take_is_ready() const { return stopped_ || error_ || closed_ || !queue_.empty(); }

  mutable std::mutex mutex_;
  std::condition_variable room_;
  std::condition_variable arrived_;
  std::deque<std::pair<T, std::size_t>> queue_;  // this and all below: under mutex_
  std::size_t budget_;
  std::size_t bytes_ = 0;
  std::uint64_t times_full_ = 0;
  std::uint64_t times_empty_ = 0;
  bool closed_ = false;
  bool stopped_ = false;
  bool putter_waits_ = false;
  bool taker_waits_ = false;
  std::optional<Error> error_;
};

}  // namespace forebay
