#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "core/runtime/actor_host.h"
#include "tests/support/manual_clock.h"

namespace forebay::test {

/// A host of actors without threads: calls deliver messages, in an order that is always the same,
/// and time stands still.
class TestHost {
 public:
  TestHost();
  ~TestHost();

  template <class Factory>
  auto spawn(const SpawnOptions& options, Factory factory) {
    return host_.spawn(options, std::move(factory));
  }

  /// Lets the actor that waits longest handle one message. False when no actor has one.
  bool deliver_one();

  /// Delivers until no message is left; returns how many were delivered.
  std::size_t deliver_all();

  /// Advances the time and fires due timers; delivers nothing.
  void advance(std::chrono::nanoseconds by);

  ActorHost& host() { return host_; }
  const ManualClock& clock() const { return clock_; }

  /// Errors of handlers without a waiting asker.
  const std::vector<Error>& unheard() const { return unheard_; }

 private:
  class Line final : public Executor {
   public:
    void submit(Resumable& work) override { waiting.push_back(&work); }
    void nudge() override {}

    std::deque<Resumable*> waiting;
  };

  ManualClock clock_;
  TimerQueue timers_;
  Line line_;
  std::vector<Error> unheard_;
  ActorHost host_;
};

}  // namespace forebay::test
