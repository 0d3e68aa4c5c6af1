#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actors/stage_groups.h"
#include "core/base/clock.h"
#include "core/runtime/pool/actor_meter.h"
#include "core/runtime/pool/pool_engine.h"
#include "core/runtime/synchronized.h"

namespace forebay {

/// The state of one stage; the counters are exact sums since the start.
struct StageStats {
  std::string name;
  PoolStats pool;
};

/// Counts what actors do for the other stages of their group, so that each stage's counters still
/// say what the stage costs.
///
/// An actor belongs to the pool of its group's first stage, whose own counters would hold the whole
/// group's work. To the other stages of a group its actor is waiting for input while it works for
/// one of them: busy and waiting times of each stage add up to the lifetime of the group's actors.
/// Unfinished work counts for the stage that it is in, so no stage's counter ever falls. Any
/// thread.
class FusedWork {
 public:
  using Time = std::chrono::nanoseconds;
  /// Returns the CPU time of the thread with this CPU clock.
  using CpuOf = std::function<Time(clockid_t)>;

  /// An actor of a group.
  struct ActorId {
    std::size_t first = 0;     ///< The group's first stage.
    std::uint32_t number = 0;  ///< In the pool of that stage.
    auto operator<=>(const ActorId&) const = default;
  };

  /// What an actor has done for one stage of its group.
  struct Done {
    Service service;
    std::uint64_t bytes = 0;  ///< Of the split before the stage.
  };

  FusedWork(std::size_t stages, const Clock& clock, CpuOf cpu_of = thread_cpu_time);

  /// The four below: on the actor's own thread, which lives until finish() or leave().
  ///
  /// The actor works for the first of the stages up to `end` from now on, after `waited` without a
  /// split.
  void begin(ActorId actor, std::size_t end, Time waited);
  /// The actor works for `stage` from now on.
  void enter(ActorId actor, std::size_t stage);
  /// The actor has taken its split through all stages of its group, for each of which `done` has an
  /// entry; that of the first stage is not read, since the pool counts it.
  void finish(ActorId actor, const std::vector<Done>& done);
  /// The actor gives its split up. Does nothing without a split.
  void leave(ActorId actor);

  /// Sums at one moment, with unfinished work. Take them before the statistics of the pools, whose
  /// busy times then contain them.
  struct Sums {
    struct Place {
      std::size_t stage = 0;
      Time since{0};
      std::size_t end = 0;                 ///< Of the group that the actor's split goes through.
      std::optional<clockid_t> cpu_clock;  ///< Of the actor's thread.
      Time cpu{0};                         ///< What `cpu_clock` showed at `since`.
    };
    std::vector<ActorTotals> stages;    ///< Of each stage, done by actors of others.
    std::vector<ActorTotals> taken;     ///< Of each pool, done for other stages.
    std::map<ActorId, Place> places{};  ///< Of actors that have a split.
  };
  Sums sums() const;

  /// Moves the work from the stage whose pool did it to the stage that it was done for, and shows
  /// the actors of a group at each of its stages.
  void attribute(const Sums& sums, const StageGroups& groups,
                 std::vector<StageStats>& stages) const;

 private:
  void close(ActorId actor);
  void charge(Sums& sums, ActorId actor, const Sums::Place& place) const;
  Time cpu_at(const Sums::Place& place) const;

  const Clock& clock_;
  const CpuOf cpu_of_;
  const Synchronized<> serial_{};  // guards the two below
  Sums sums_;                      // without unfinished work
  /// The busy and CPU times of each stage that were shown last.
  mutable std::vector<ActorTotals> shown_;
};

}  // namespace forebay
