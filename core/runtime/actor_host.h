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
#include "core/runtime/executor.h"
#include "core/runtime/timer_queue.h"

namespace forebay {

class DedicatedThread;

/// The place actors are born, listed while they live, and told to stop.
///
/// Owns the living and the threads of those that have one of their own. Given its executor, its
/// timers and its clock, so that tests bring theirs. Any thread.
class ActorHost {
 public:
  struct Parts {
    Executor& executor;
    TimerQueue& timers;
    const Clock& clock;
    /// Called, on the actor's thread, with an error a handler returned to nobody.
    std::function<void(ActorId, const Error&)> on_unheard = {};
    /// What Placement::kOwnThread comes to: kShared in a test without threads.
    Placement own_thread_as = Placement::kOwnThread;
  };

  explicit ActorHost(Parts parts);
  ~ActorHost();
  ActorHost(const ActorHost&) = delete;
  ActorHost& operator=(const ActorHost&) = delete;

  /// Starts an actor that `factory` makes (a `std::unique_ptr` to it), again after each restart.
  /// Once the host stops an actor ends as soon as it is born.
  template <class Factory>
  auto spawn(const SpawnOptions& options, Factory factory) {
    using Made = typename std::invoke_result_t<Factory>::element_type;
    return typename Made::Ref(add(options, [factory = std::move(factory)] { return factory(); }));
  }

  enum class Stop : std::uint8_t {
    kDrain,  ///< Each actor handles what is queued now.
    kNow,    ///< Each actor ends after the message it holds.
  };

  /// Tells all to stop, and whoever is born from here on.
  void stop_all(Stop how);

  /// Waits, from a thread that is no actor's, until nobody lives.
  void wait_until_empty();

  std::size_t num_living() const;
  const Clock& clock() const { return parts_.clock; }
  TimerQueue& timers() const { return parts_.timers; }
  Executor& executor() const { return parts_.executor; }

  /// A name for an actor elsewhere, so that it has one among those here.
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
  Cell* newest_ = nullptr;  // the living, linked; under mutex_, as all below
  std::size_t num_living_ = 0;
  bool stopping_ = false;
  std::list<DedicatedThread> threads_;
};

}  // namespace forebay
