#pragma once

#include <chrono>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/base/clock.h"
#include "core/base/random.h"
#include "core/runtime/executor/executor.h"

namespace forebay {

/// A clock that only `advance` moves.
class SimulatedClock final : public Clock {
 public:
  std::chrono::nanoseconds now() const override { return now_; }
  void advance(std::chrono::nanoseconds by) { now_ += by; }

 private:
  std::chrono::nanoseconds now_{0};
};

/// Runs one message at a time, of an actor that a seed draws, when `step` is called. Belongs to one
/// thread.
class SeededExecutor final : public Executor {
 public:
  explicit SeededExecutor(std::uint64_t seed) : random_(seed) {}

  void submit(Resumable& work) override { waiting_.push_back(&work); }
  void nudge() override {}

  /// False if no actor has a message.
  bool step() {
    if (waiting_.empty()) return false;
    std::swap(waiting_[random_.below(waiting_.size())], waiting_.back());
    Resumable* next = waiting_.back();
    waiting_.pop_back();
    if (next->resume(1) == Resumable::Next::kMore) waiting_.push_back(next);
    return true;
  }

 private:
  Random random_;
  std::vector<Resumable*> waiting_;
};

}  // namespace forebay
