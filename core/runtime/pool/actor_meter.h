#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "core/base/descriptor.h"

namespace forebay {

/// The cost of serving one message, or the sum over many.
struct Service {
  std::chrono::nanoseconds time{0};   ///< Inside `on`, without waits for output.
  std::chrono::nanoseconds cpu{0};    ///< The part of `time` on a CPU.
  std::chrono::nanoseconds ready{0};  ///< The part waiting for a CPU: the kernel's run delay.
  double squared_seconds = 0;         ///< (time − ready)², summed.
  std::uint64_t actors = 0;           ///< Sum over messages of the actors alive when each began.

  Service& operator+=(const Service& other);
  bool operator==(const Service&) const = default;
};

/// Measures the cost of each message on the thread that serves it.
///
/// Created and used on that thread; owns a descriptor of /proc/thread-self/schedstat. `ready` is 0
/// on a kernel without run delays. Costs about 1 µs per message, and twice that if the thread slept
/// before it.
class ServiceMeter {
 public:
  using Time = std::chrono::nanoseconds;

  ServiceMeter();

  /// Starts a message. `slept`: the thread slept since the last message ended.
  void start(Time now, std::size_t actors, bool slept);
  /// The two below exclude a wait for output.
  void pause(Time now);
  void resume(Time now);
  /// Ends the message and returns its cost.
  Service finish(Time now);

 private:
  struct Reading {
    Time cpu{0};
    Time ready{0};
  };
  Reading read() const;

  const Descriptor schedstat_;
  Reading last_;
  Time began_{0};
  Service service_;
};

/// The state of a pool's actor.
enum class ActorState : std::uint8_t {
  kIdle,           ///< Waits for a message.
  kBusy,           ///< Handles a message.
  kWaitingOutput,  ///< Has a result and waits for space in the next stage.
};

/// Totals of one actor, or of all actors of a pool.
struct ActorTotals {
  std::chrono::nanoseconds busy{0};         ///< Inside `on`, without waits for output.
  std::chrono::nanoseconds cpu{0};          ///< CPU time of the actor's thread.
  std::chrono::nanoseconds wait_input{0};   ///< Waiting for a message.
  std::chrono::nanoseconds wait_output{0};  ///< Waiting for space in the next stage.
  std::uint64_t messages = 0;               ///< Finished messages, including failed ones.
  std::uint64_t bytes = 0;                  ///< Of those messages, as given to offer().
  Service done;  ///< Service of those messages; zeros if the pool does not measure it.

  ActorTotals& operator+=(const ActorTotals& other);
  bool operator==(const ActorTotals&) const = default;
};

/// Accounts one actor's time to its states, in nanoseconds.
///
/// The actor's thread writes and any thread reads. A reading includes the running interval, so a
/// stuck actor is visible. Does not count `cpu`, which the thread's CPU clock gives.
class ActorMeter {
 public:
  using Time = std::chrono::nanoseconds;

  struct Reading {
    ActorTotals totals;  ///< Including the running interval.
    ActorState state = ActorState::kIdle;
    Time since{0};          ///< Start of the current state.
    std::uint64_t key = 0;  ///< Key of the current message, unless idle.
  };

  explicit ActorMeter(Time now) { now_.since = now; }

  /// The three below: only on the actor's thread.
  void start_message(std::uint64_t key, Time now);
  void enter(ActorState state, Time now);
  void finish_message(std::size_t bytes, Time now, const Service& service = {});

  Reading read(Time now) const;

 private:
  void close_interval(ActorState next, Time now);

  mutable std::mutex mutex_;
  Reading now_;  // without the running interval; under mutex_
};

}  // namespace forebay
