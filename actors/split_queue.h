#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "actors/epoch_order.h"
#include "actors/stage/split.h"
#include "core/data/batch.h"

namespace forebay {

/// Returns the split that `number` denotes, without its cost; the same on every machine.
SplitId split_id(std::uint64_t number, const EpochOrder& order);

/// The splits still to be issued, in order, over all epochs of a run.
///
/// Starts at the position `start`: splits that were given out whole are skipped, and a split that
/// was given out in part comes first. Pure state; the caller guards it. `order` must outlive it.
class SplitQueue {
 public:
  SplitQueue(const EpochOrder& order, std::uint64_t epochs, const Position& start);

  /// The next split to issue, without its cost; empty when all splits have been issued.
  std::optional<SplitId> front() const;
  void pop();

 private:
  void skip_given_out();

  const EpochOrder& order_;
  const std::uint64_t end_;
  std::uint64_t next_;
  std::optional<std::uint64_t> open_;  // Issued before all others.
  std::set<std::uint64_t> given_out_;  // Numbers to skip.
};

}  // namespace forebay
