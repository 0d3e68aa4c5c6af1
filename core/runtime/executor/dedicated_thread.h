#pragma once

#include <atomic>

#include "core/runtime/executor/executor.h"
#include "core/runtime/executor/parker.h"
#include "core/runtime/thread.h"

namespace forebay {

/// A thread for one actor that blocks or computes. Ends with the actor.
class DedicatedThread final : public Executor {
 public:
  explicit DedicatedThread(const Thread::Options& options) : thread_(options, [this] { run(); }) {}

  void submit(Resumable& work) override {
    work_.store(&work, std::memory_order_relaxed);
    parker_.unpark();
  }
  void nudge() override {}

  /// Whether the actor has ended; joining then waits only for the thread's last instructions.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

 private:
  void run() {
    Resumable::Next next = Resumable::Next::kAwait;
    while (next != Resumable::Next::kDone) {
      if (next == Resumable::Next::kAwait) parker_.park();
      next = work_.load(std::memory_order_relaxed)->resume(kTurn);
    }
    ended_.store(true, std::memory_order_release);
  }

  std::atomic<Resumable*> work_{nullptr};  // always the same actor
  std::atomic<bool> ended_{false};
  Parker parker_;
  Thread thread_;
};

}  // namespace forebay
