#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace forebay {

/// Calls body(0) … body(count - 1), each once, and starts them in that order. Uses at most
/// `threads` threads including the caller's, or fewer when the system cannot start more. Returns
/// when all calls have ended; `body` must not throw.
void for_each_in_parallel(std::size_t count, int threads,
                          const std::function<void(std::size_t)>& body);

/// A count that several threads add to.
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
