#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "actors/epoch_order.h"
#include "actors/stage/split.h"
#include "core/data/batch.h"

namespace forebay {

/// What a number stands for, without its cost: the same on every machine.
SplitId split_id(std::uint64_t number, const EpochOrder& order);

/// The splits still to be issued, in order, over all epochs of a run.
///
/// Starts where `start` left off: what was given out whole is left out, and a split of which only
/// some rows were comes first. Pure state; its caller guards it. `order` must outlive it.
class SplitQueue {
 public:
  SplitQueue(const EpochOrder& order, std::uint64_t epochs, const Position& start);

  /// The next split to issue, without its cost; nothing when all have been.
  std::optional<SplitId> front() const;
  void pop();

 private:
  void skip_given_out();

  const EpochOrder& order_;
  const std::uint64_t end_;
  std::uint64_t next_;
  std::optional<std::uint64_t> open_;  // Issued before all others.
  std::set<std::uint64_t> given_out_;  // Numbers to leave out.
};

}  // namespace forebay
