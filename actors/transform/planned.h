#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/transform/slot_groups.h"
#include "actors/transform/step.h"
#include "actors/transform/transform.h"
#include "core/base/clock.h"

namespace forebay {

/// A step as it is written. Without an operator: missing values become 0.
struct TransformPlan::Written {
  std::optional<std::size_t> op;
  StepPtr step;
};

/// Readings of a thread's CPU clock and of the clock, or the time between two.
struct StepTime {
  std::chrono::nanoseconds cpu{0};
  std::chrono::nanoseconds passed{0};

  static StepTime now() { return {.cpu = thread_cpu_time(), .passed = SystemClock().now()}; }
  StepTime operator-(const StepTime& before) const {
    return {.cpu = cpu - before.cpu, .passed = passed - before.passed};
  }
};

/// A step as it runs, made of one or several that are written, and what this process has measured
/// of it.
struct TransformPlan::Planned {
  struct Part {
    std::optional<std::size_t> op;
    double cost = 0;  ///< StepFacts::cost
  };

  /// The CPU time, and the time by the clock, of the runs that were measured. Any thread.
  struct Meter {
    std::atomic<std::int64_t> nanoseconds{0};  // of CPU
    std::atomic<std::int64_t> passed{0};
    std::atomic<std::uint64_t> rows{0};

    void add(const StepTime& time, std::uint64_t of_rows) {
      nanoseconds.fetch_add(time.cpu.count(), std::memory_order_relaxed);
      passed.fetch_add(time.passed.count(), std::memory_order_relaxed);
      rows.fetch_add(of_rows, std::memory_order_relaxed);
    }
    std::optional<double> per_row() const {
      const std::uint64_t measured = rows.load(std::memory_order_relaxed);
      if (measured == 0) return std::nullopt;
      return static_cast<double>(nanoseconds.load(std::memory_order_relaxed)) /
             static_cast<double>(measured);
    }
  };

  std::vector<Part> parts = {};
  StepPtr step = {};
  SlotGroups::Place place = {};
  std::unique_ptr<Meter> meter = std::make_unique<Meter>();

  /// Whether `other` is the same operators over another column.
  bool is_like(const Planned& other) const {
    return std::ranges::equal(parts, other.parts, {}, &Part::op, &Part::op);
  }

  double cost() const {
    double sum = 0;
    for (const Part& part : parts) sum += part.cost;
    return sum;
  }
};

}  // namespace forebay
