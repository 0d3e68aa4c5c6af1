#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "scheduler/cluster_status.h"
#include "scheduler/protocol.h"

namespace forebay::scheduler {

/// The splits that were issued and not yet handed to the trainer: which workers announced each,
/// from which it is pulled, and which have arrived.
///
/// A value of the split client's thread; the actor exchanges the messages about them.
class WantedSplits {
 public:
  using Time = std::chrono::nanoseconds;

  struct Split {
    enum class State : std::uint8_t { kIssued, kPulling, kArrived };
    State state = State::kIssued;
    Time since = {};  ///< Start of the state.
    /// The workers that announced the split; it is pulled from the first one.
    std::vector<HolderRef> holders = {};

    bool has_arrived() const { return state == State::kArrived; }
    bool is_pulled_from(ActorId holder) const {
      return state == State::kPulling && !holders.empty() && holders.front().id() == holder;
    }
  };

  /// `pull_timeout` is the time in which a split that was asked for should arrive.
  explicit WantedSplits(Time pull_timeout) : pull_timeout_(pull_timeout) {}

  /// Adds a split; false if it is wanted already.
  bool issue(std::uint64_t split, Time now);
  /// The split if it is wanted and has not arrived; else null.
  Split* missing(std::uint64_t split);
  /// Adds a worker that announced `split`. Returns whether this worker is new for it.
  bool announced(Split& split, const HolderRef& holder);
  /// The splits that have not arrived.
  std::size_t num_missing() const { return missing_; }
  /// Marks a missing split as sent by `holder`, which announced it.
  static void on_its_way(Split& split, const HolderRef& holder, Time now);
  /// Marks a missing split as arrived; returns the workers that announced it.
  std::vector<HolderRef> arrived(std::uint64_t split, Time now);
  /// The splits below `end`.
  std::vector<std::uint64_t> below(std::uint64_t end) const;
  void forget(std::uint64_t split) { all_.erase(split); }

  /// The splits that were asked for `pull_timeout` ago and have not come.
  std::vector<std::uint64_t> late_pulls(Time now) const;
  /// Removes a worker that is gone; returns the splits that were being pulled from it.
  std::vector<std::uint64_t> lose(ActorId holder);

  std::vector<SplitRange> ranges() const;
  std::vector<std::uint64_t> arrived() const;
  /// Counts the splits in each state.
  void count(SplitClientStatus& status) const;
  /// A sentence on a split that is late; empty: none is.
  std::string describe_late(Time now) const;

 private:
  bool is_late(const Split& split, Time now) const;

  const Time pull_timeout_;
  std::map<std::uint64_t, Split> all_;
  std::size_t missing_ = 0;  // The splits that have not arrived.
  Time silent_since_ = {};   // The last arrival, while splits are missing.
};

}  // namespace forebay::scheduler
