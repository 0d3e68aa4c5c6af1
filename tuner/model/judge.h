#pragma once

#include "tuner/allocation.h"
#include "tuner/model/planner.h"
#include "tuner/model/possible_worlds.h"

namespace forebay::tuner {

/// Judges allocations of a pipeline over possible worlds. Refers to the description, which must
/// outlive it.
class Judge {
 public:
  Judge(const PipelineDescription& description, RewardMode reward, const Limits& limits,
        const PossibleWorlds& worlds)
      : description_(description), reward_(reward), limits_(limits), worlds_(worlds) {}

  /// What is to be expected of an allocation: mean and spread over the worlds.
  Planned judged(Allocation allocation) const;
  /// The expected rate after a price for actors and memory, with a bonus for doubt.
  double value(const Planned& planned) const;
  /// Whether value(judged(allocation)) could exceed `least`; takes a fifth of the time of an
  /// answer.
  bool may_exceed(const Allocation& allocation, double least) const;

 private:
  double value(const Planned& planned, double price) const;

  const PipelineDescription& description_;
  const RewardMode reward_;
  const Limits limits_;
  const PossibleWorlds& worlds_;
};

}  // namespace forebay::tuner
