#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "core/wire/frame.h"
#include "scheduler/worker/split_executor.h"

namespace forebay::scheduler {

/// The splits that a worker holds, from their lease until the split client has them.
///
/// Begins and cancels their work at the executor. A value of the worker actor's thread; the actor
/// exchanges the messages about them.
class HeldSplits {
 public:
  using Time = std::chrono::nanoseconds;

  enum class State : std::uint8_t {
    kMaking,
    kReady,   ///< Made; announced to the split client, or to be announced again.
    kPulled,  ///< The split client wants it; it is sent as soon as the connection has space.
    kSent,    ///< Kept until the split client confirms it.
  };
  struct Held {
    using State = HeldSplits::State;
    State state = State::kMaking;
    bool handed_on = false;  ///< The process's reorder buffer has it; there are no frames.
    bool again = false;      ///< Another worker may have it, so it is announced before it is sent.
    Frames frames;
    Time told = {};  ///< When it was last announced or sent to the split client.
    ActorId sent_to = ActorId::kNobody;  ///< The split client that it was sent to.
  };

  explicit HeldSplits(SplitExecutor& executor) : executor_(executor) {}

  /// Null if the split is not held.
  Held* find(std::uint64_t split);
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  std::vector<std::uint64_t> numbers() const;
  /// The number of splits that are not sent yet.
  std::size_t unsent() const;
  /// The splits that are not made yet; only those not begun if `unbegun`.
  std::vector<std::uint64_t> unmade(bool unbegun = false) const;
  std::vector<std::uint64_t> pulled() const;
  /// The made splits that were announced or sent `after` ago and not answered.
  std::vector<std::uint64_t> to_announce_again(Time now, Time after) const;

  /// Starts the work on a split that is not held; `again`: another worker may have it.
  void begin(std::uint64_t split, bool again = false);
  /// Keeps a split that was made; null if it is not held or was made before.
  Held* made(WorkDone&& done);
  /// Cancels the work on a split, or drops it. No effect if the split is not held.
  void forget(std::uint64_t split);
  void forget(const std::vector<std::uint64_t>& splits);
  void forget_all() { forget(numbers()); }

 private:
  template <class Predicate>
  std::vector<std::uint64_t> numbers_where(Predicate predicate) const;

  SplitExecutor& executor_;
  std::map<std::uint64_t, Held> all_;
};

}  // namespace forebay::scheduler
