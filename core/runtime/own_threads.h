#pragma once

#include <utility>

#include "core/base/clock.h"
#include "core/runtime/actor_host.h"
#include "core/runtime/cell.h"
#include "core/runtime/executor/executor.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

/// A host of actors that each have a thread of their own, for an object that owns a few of them.
///
/// An ActorSystem without shared threads: it starts a thread with each actor, and one for timers
/// with the first message that an actor sends itself for later. The destructor ends each actor
/// after its current message and joins the threads; it must not run on one of them. `clock` must
/// outlive it. Thread-safe.
class OwnThreads {
 public:
  explicit OwnThreads(const Clock& clock);
  ~OwnThreads() { shutdown(ActorHost::Stop::kNow); }
  OwnThreads(const OwnThreads&) = delete;
  OwnThreads& operator=(const OwnThreads&) = delete;

  /// Starts an actor. Throws NoThread.
  template <class Factory>
  auto spawn(SpawnOptions options, Factory factory) {
    options.placement = Placement::kOwnThread;
    return host_.spawn(options, std::move(factory));
  }

  /// Stops every actor and waits until all have ended.
  void shutdown(ActorHost::Stop how);

  ActorHost& host() { return host_; }

 private:
  /// Every actor here has a thread of its own.
  class NoSharedThreads final : public Executor {
   public:
    void submit(Resumable& work) override;
    void nudge() override {}
  };

  TimerThread timers_;
  NoSharedThreads shared_;
  ActorHost host_;
};

}  // namespace forebay
