#pragma once

#include <functional>
#include <utility>

#include "core/base/clock.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/executor/shared_executor.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

/// A host of actors with real threads and a real clock, for `main`.
///
/// Owns the threads of the executor, of the timers, and of each actor with its own thread; its
/// destructor joins all of them. Actors must not call `shutdown`, which the destructor also calls.
class ActorSystem {
 public:
  struct Options {
    SharedExecutor::Options executor = {};
    std::function<void(ActorId, const Error&)> on_unheard = {};
  };

  ActorSystem(Options options, const Clock& clock)
      : timers_(clock),
        executor_(options.executor),
        host_({.executor = executor_,
               .timers = timers_.queue(),
               .clock = clock,
               .on_unheard = std::move(options.on_unheard)}) {}
  ~ActorSystem() { shutdown(ActorHost::Stop::kNow); }
  ActorSystem(const ActorSystem&) = delete;
  ActorSystem& operator=(const ActorSystem&) = delete;

  template <class Factory>
  auto spawn(const SpawnOptions& options, Factory factory) {
    return host_.spawn(options, std::move(factory));
  }

  /// Stops every actor and waits until all have ended.
  void shutdown(ActorHost::Stop how) {
    host_.stop_all(how);
    host_.wait_until_empty();
    timers_.stop();
  }

  std::size_t num_living() const { return host_.num_living(); }
  ActorHost& host() { return host_; }

 private:
  TimerThread timers_;
  SharedExecutor executor_;
  ActorHost host_;
};

}  // namespace forebay
