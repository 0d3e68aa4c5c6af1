#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/runtime/pool/service_meter.h"

namespace forebay {

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
/// The actor's thread writes and any thread reads; neither waits for the other (a sequence lock). A
/// reading includes the running interval, so a stuck actor is visible. Aligned to its own cache
/// lines. Does not count `cpu`, which the thread's CPU clock gives.
class alignas(64) ActorMeter {
 public:
  using Time = std::chrono::nanoseconds;

  struct Reading {
    ActorTotals totals;  ///< Including the running interval.
    ActorState state = ActorState::kIdle;
    Time since{0};          ///< Start of the current state.
    std::uint64_t key = 0;  ///< Key of the current message, unless idle.
  };

  explicit ActorMeter(Time now) { set(kSince, static_cast<std::uint64_t>(now.count())); }

  /// The three below: only on the actor's thread.
  void start_message(std::uint64_t key, Time now);
  void enter(ActorState state, Time now);
  void finish_message(std::size_t bytes, Time now, const Service& service = {});

  Reading read(Time now) const;

 private:
  enum Field {
    kState,
    kSince,
    kKey,
    kTimeIdle,
    kTimeBusy,
    kTimeOutput,
    kMessages,
    kBytes,
    kDoneTime,
    kDoneCpu,
    kDoneReady,
    kDoneSquared,  // the bits of a double
    kDoneActors,
    kFields
  };

  std::uint64_t get(Field field) const { return fields_[field].load(std::memory_order_acquire); }
  void set(Field field, std::uint64_t value) {
    fields_[field].store(value, std::memory_order_release);
  }
  void add(const Service& service);
  void begin_write() { version_.store(++writes_, std::memory_order_relaxed); }
  void end_write() { version_.store(++writes_, std::memory_order_release); }
  void close_interval(ActorState next, Time now);

  std::array<std::atomic<std::uint64_t>, kFields> fields_{};
  std::atomic<std::uint64_t> version_{0};  // odd while a write is under way
  std::uint64_t writes_ = 0;               // the writer's copy of version_
};

}  // namespace forebay
