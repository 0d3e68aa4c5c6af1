#pragma once

#include <atomic>
#include <cstdint>

namespace forebay {

/// A count that several threads add to. Any thread.
class SharedCount {
 public:
  explicit SharedCount(std::uint64_t start = 0) : count_(start) {}

  /// Returns the count after the addition.
  std::uint64_t add(std::uint64_t more) {
    return count_.fetch_add(more, std::memory_order_relaxed) + more;
  }
  std::uint64_t get() const { return count_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> count_;
};

}  // namespace forebay
