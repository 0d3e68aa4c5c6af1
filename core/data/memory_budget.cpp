#include "core/data/memory_budget.h"

#include "core/base/check.h"

namespace forebay {

bool MemoryBudget::try_take(std::size_t bytes) {
  std::size_t used = used_.load(std::memory_order_relaxed);
  do {
    if (used + bytes > limit()) return false;
  } while (!used_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  raise_peak(used + bytes);
  return true;
}

void MemoryBudget::take(std::size_t bytes) {
  raise_peak(used_.fetch_add(bytes, std::memory_order_relaxed) + bytes);
}

void MemoryBudget::give(std::size_t bytes) {
  const std::size_t before = used_.fetch_sub(bytes, std::memory_order_relaxed);
  FOREBAY_CHECK(before >= bytes);
}

void MemoryBudget::raise_peak(std::size_t used) {
  std::size_t peak = peak_.load(std::memory_order_relaxed);
  while (used > peak && !peak_.compare_exchange_weak(peak, used, std::memory_order_relaxed)) {
  }
}

}  // namespace forebay
