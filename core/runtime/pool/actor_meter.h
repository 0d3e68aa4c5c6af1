#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>

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

/// A value that one thread writes and any thread reads; neither waits for the other (a sequence
/// lock).
template <class T>
class SequenceLocked {
 public:
  /// Only on the writing thread.
  void write(const T& value) {
    Words words{};
    std::memcpy(words.data(), &value, sizeof(T));
    version_.store(++writes_, std::memory_order_relaxed);
    for (std::size_t i = 0; i < words.size(); ++i) {
      words_[i].store(words[i], std::memory_order_release);
    }
    version_.store(++writes_, std::memory_order_release);
  }

  T read() const {
    static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);
    Words words{};
    std::uint64_t before = 0;
    do {
      before = version_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < words.size(); ++i) {
        words[i] = words_[i].load(std::memory_order_acquire);
      }
    } while (before % 2 != 0 || version_.load(std::memory_order_relaxed) != before);
    T value;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof(T));
    return value;
  }

 private:
  using Words = std::array<std::uint64_t, sizeof(T) / sizeof(std::uint64_t)>;

  std::array<std::atomic<std::uint64_t>, std::tuple_size_v<Words>> words_{};
  std::atomic<std::uint64_t> version_{0};  // odd while a write is under way
  std::uint64_t writes_ = 0;               // the writer's copy of version_
};

/// Accounts one actor's time to its states, in nanoseconds.
///
/// The actor's thread writes and any thread reads; neither waits for the other. A reading includes
/// the running interval, so a stuck actor is visible. Aligned to its own cache lines. Does not
/// count `cpu`, which the thread's CPU clock gives.
class alignas(64) ActorMeter {
 public:
  using Time = std::chrono::nanoseconds;

  struct Reading {
    ActorTotals totals;  ///< Including the running interval.
    ActorState state = ActorState::kIdle;
    Time since{0};          ///< Start of the current state.
    std::uint64_t key = 0;  ///< Key of the current message, unless idle.
  };

  explicit ActorMeter(Time now);

  /// The three below: only on the actor's thread.
  void start_message(std::uint64_t key, Time now);
  void enter(ActorState state, Time now);
  void finish_message(std::size_t bytes, Time now, const Service& service = {});

  Reading read(Time now) const;

 private:
  void close_interval(ActorState next, Time now);

  Reading now_;  // the writer's copy, without the running interval
  SequenceLocked<Reading> shown_;
};

}  // namespace forebay
