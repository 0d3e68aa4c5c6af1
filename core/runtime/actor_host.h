#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <type_traits>
#include <utility>

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/runtime/cell.h"
#include "core/runtime/executor/executor.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

class DedicatedThread;

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
  Cell* newest_ = nullptr;  // list of living actors; under mutex_, as all below
  std::size_t num_living_ = 0;
  bool stopping_ = false;
  std::list<DedicatedThread> threads_;
};

}  // namespace forebay
