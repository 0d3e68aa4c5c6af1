#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "actors/stage_groups.h"
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
/// Any thread.
class FusedWork {
 public:
  using Time = std::chrono::nanoseconds;

  /// What an actor has done for one stage of its group.
  struct Done {
    Service service;
    std::uint64_t bytes = 0;  ///< Of the split before the stage; 0 for the first stage.
  };

  explicit FusedWork(std::size_t stages) : stages_(stages), taken_(stages) {}

  /// Actor `number` of the pool of `first` works for `stage` from now on.
  void enter(std::size_t first, std::uint32_t number, std::size_t stage, Time now);

  /// The actor has taken a split through the stages `first`, `first` + 1, …, for each of which
  /// `done` has an entry, after `waited` without one.
  void add(std::size_t first, std::uint32_t number, const std::vector<Done>& done, Time waited);

  /// The actor has ended, or its split has failed.
  void leave(std::size_t first, std::uint32_t number);

  /// Sums at one moment. Take them before the statistics of the pools, whose busy times then
  /// contain them.
  struct Sums {
    struct Place {
      std::size_t stage = 0;
      Time since{0};
    };
    std::vector<ActorTotals> stages;  ///< Of each stage, done by actors of others.
    std::vector<ActorTotals> taken;   ///< Of each pool, done for other stages.
    std::map<std::pair<std::size_t, std::uint32_t>, Place> places;  ///< By pool and actor.
  };
  Sums sums() const;

  /// Moves the work from the stage whose pool did it to the stage that it was done for, and shows
  /// the actors of a group at each of its stages.
  static void attribute(const Sums& sums, const StageGroups& groups,
                        std::vector<StageStats>& stages);

 private:
  const Synchronized<> serial_{};  // guards the three below
  std::vector<ActorTotals> stages_;
  std::vector<ActorTotals> taken_;
  std::map<std::pair<std::size_t, std::uint32_t>, Sums::Place> places_;
};

}  // namespace forebay
