#pragma once

#include <atomic>
#include <chrono>

#include "core/base/clock.h"

namespace forebay::test {

/// A clock that only `advance` moves. Any thread may read it or move it.
class ManualClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override {
    return std::chrono::nanoseconds(nanoseconds_.load(std::memory_order_acquire));
  }

  void advance(std::chrono::nanoseconds by) {
    nanoseconds_.fetch_add(by.count(), std::memory_order_acq_rel);
  }

 private:
  std::atomic<std::chrono::nanoseconds::rep> nanoseconds_{0};
};

}  // namespace forebay::test
