#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/runtime/service_meter.h"

namespace forebay {

/// What a pool's actor is doing.
enum class ActorState : std::uint8_t {
  kIdle,           ///< Waits for a message.
  kBusy,           ///< Works on one.
  kWaitingOutput,  ///< Has a result and waits for room behind it.
};

/// Sums over an actor's life, or over all actors of a pool.
struct ActorTotals {
  std::chrono::nanoseconds busy{0};         ///< Inside `on`, waits for output taken off.
  std::chrono::nanoseconds cpu{0};          ///< Of the actor's thread.
  std::chrono::nanoseconds wait_input{0};   ///< For a message.
  std::chrono::nanoseconds wait_output{0};  ///< For room behind it.
  std::uint64_t messages = 0;               ///< Finished, failed ones too.
  std::uint64_t bytes = 0;                  ///< Of those, as they were offered.
  Service done;  ///< Of those, what their service took; zeros where the pool does not measure it.

  ActorTotals& operator+=(const ActorTotals& other);
  bool operator==(const ActorTotals&) const = default;
};

/// Counts one actor's time by what it was doing, to the nanosecond.
///
/// The actor's thread writes, any thread reads; neither waits for the other (a
/// sequence lock). A reading includes the interval that still runs, so a stuck
/// actor shows. On cache lines of its own. `cpu` is not counted here: the
/// thread's own clock tells it.
class alignas(64) ActorMeter {
 public:
  using Time = std::chrono::nanoseconds;

  struct Reading {
    ActorTotals totals;  ///< The running interval included.
    ActorState state = ActorState::kIdle;
    Time since{0};          ///< When that state began.
    std::uint64_t key = 0;  ///< Of the message held, unless idle.
  };

  explicit ActorMeter(Time now) { set(kSince, static_cast<std::uint64_t>(now.count())); }

  /// The three below: the actor's thread only.
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
