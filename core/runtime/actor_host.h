#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/cell.h"
#include "core/runtime/executor/executor.h"
#include "core/runtime/timer_queue.h"
#include "core/runtime/turn_watch.h"

namespace forebay {

/// Creates actors, lists the living ones, and stops them.
///
/// Owns the living actors and the threads of actors with Placement::kOwnThread. Its executor,
/// timers and clock are passed in, so that tests can replace them. Thread-safe.
class ActorHost {
 public:
  struct Parts {
    Executor& executor;
    TimerQueue& timers;
    const Clock& clock;
    /// Called on the actor's thread when a handler returns an error and no asker waits for it.
    std::function<void(ActorId, const Error&)> on_unheard = {};
    /// The placement to use for Placement::kOwnThread: kShared in a test without threads.
    Placement own_thread_as = Placement::kOwnThread;
  };

  explicit ActorHost(Parts parts);
  ~ActorHost();
  ActorHost(const ActorHost&) = delete;
  ActorHost& operator=(const ActorHost&) = delete;

  /// Starts an actor. `factory` creates it (as a `std::unique_ptr`), again after each restart. If
  /// the host is stopping, the actor ends right after its start.
  template <class Factory>
  auto spawn(const SpawnOptions& options, Factory factory) {
    using Made = typename std::invoke_result_t<Factory>::element_type;
    return typename Made::Ref(add(options, [factory = std::move(factory)] { return factory(); }));
  }

  enum class Stop : std::uint8_t {
    kDrain,  ///< Each actor first handles the messages queued now.
    kNow,    ///< Each actor ends after its current message.
  };

  /// Stops all actors, and every actor started later.
  void stop_all(Stop how);

  /// Blocks until no actor lives. Must not be called on an actor's thread.
  void wait_until_empty();

  std::size_t num_living() const;
  /// The name of the living actor that `work` is; nothing if there is none.
  std::optional<std::string> name_of(const Resumable& work) const;
  const Clock& clock() const { return parts_.clock; }
  TimerQueue& timers() const { return parts_.timers; }
  Executor& executor() const { return parts_.executor; }

  /// A local id for an actor of another process.
  ActorId next_id() { return ActorId{num_born_.fetch_add(1, std::memory_order_relaxed) + 1}; }

  /// For cells.
  void forget(Cell& cell);
  void report(ActorId actor, const Error& unheard) const;

 private:
  CellPtr add(const SpawnOptions& options, std::function<std::unique_ptr<Actor>()> factory);
  Executor& executor_for(const SpawnOptions& options);

  const Parts parts_;
  std::atomic<std::uint64_t> num_born_{0};
  mutable std::mutex mutex_;
  std::condition_variable emptied_;
  std::list<CellPtr> living_;  // the newest first; under mutex_, as all below
  bool stopping_ = false;
  std::list<DedicatedThread> threads_;
};

/// A host of actors with real threads and a real clock, for `main`.
///
/// Owns the threads of the executor, of the timers, and of each actor with its own thread; its
/// destructor joins all of them. Actors must not call `shutdown`, which the destructor also calls.
class ActorSystem {
 public:
  struct Options {
    SharedExecutor::Options executor = {};
    std::function<void(ActorId, const Error&)> on_unheard = {};
    /// Gets a line about each actor that holds a shared thread for long; see TurnWatch.
    TurnWatch::Say on_long_turn = {};
  };

  ActorSystem(Options options, const Clock& clock)
      : timers_(clock),
        executor_(options.executor),
        host_({.executor = executor_,
               .timers = timers_.queue(),
               .clock = clock,
               .on_unheard = std::move(options.on_unheard)}) {
    if (options.on_long_turn) watch_.emplace(host_, executor_, std::move(options.on_long_turn));
  }
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
  std::optional<TurnWatch> watch_;
};

}  // namespace forebay
