#pragma once

#include <atomic>
#include <cstddef>

namespace forebay {

/// Counts the bytes that a pipeline holds against a limit.
///
/// Owns two numbers and their peak, nothing else. Any thread may call it at any time. `try_take`
/// refuses bytes that do not fit. `take` always counts them; use it for memory that was reserved
/// beforehand (see design/memory.md).
class MemoryBudget {
 public:
  explicit MemoryBudget(std::size_t limit) : limit_(limit) {}
  MemoryBudget(const MemoryBudget&) = delete;
  MemoryBudget& operator=(const MemoryBudget&) = delete;

  [[nodiscard]] bool try_take(std::size_t bytes);
  void take(std::size_t bytes);
  void give(std::size_t bytes);

  std::size_t used() const { return used_.load(std::memory_order_relaxed); }
  std::size_t peak() const { return peak_.load(std::memory_order_relaxed); }
  std::size_t limit() const { return limit_.load(std::memory_order_relaxed); }
  void set_limit(std::size_t limit) { limit_.store(limit, std::memory_order_relaxed); }

 private:
  void raise_peak(std::size_t used);

  std::atomic<std::size_t> limit_;
  std::atomic<std::size_t> used_{0};
  std::atomic<std::size_t> peak_{0};
};

}  // namespace forebay
