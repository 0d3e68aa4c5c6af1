#pragma once

#include <atomic>
#include <cstdint>

#include "actors/epoch_order.h"
#include "actors/order_spec.h"
#include "actors/sizing.h"
#include "actors/split_queue.h"
#include "actors/stage/split.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Returns a split as it is issued: its id, with the cost filled in, and its blocks.
Split split_to_make(const SplitId& id, const EpochOrder& order, const Sizing& sizing);

/// Receives issued splits. Called on the issuer's thread.
class IssuedSplits {
 public:
  virtual ~IssuedSplits() = default;
  virtual void issue(Split split) = 0;
};

/// Issues splits, in order, as long as they fit the window.
///
/// Owns the queue of splits to issue. Belongs to one thread, the batch actor's once the pools run;
/// other threads may call issued() only. The objects passed by reference outlive it.
class SplitIssuer {
 public:
  /// How far arrival order may run ahead of the lowest missing split. The bound keeps its state
  /// below 1 KB.
  static constexpr std::uint64_t kMostAhead = 96;

  SplitIssuer(const OrderSpec& spec, const Position& start, const EpochOrder& order,
              const Sizing& sizing, MemoryBudget& window);

  /// `lowest_missing` is the number of the lowest split that the reorder buffer has not received.
  void issue_what_fits(IssuedSplits& to, std::uint64_t lowest_missing);

  /// The reorder buffer has taken this split's rows: returns the split's window bytes.
  void batched(const SplitId& id);

  std::uint64_t issued() const { return issued_.load(std::memory_order_relaxed); }

 private:
  bool take_room(std::uint64_t cost);

  const EpochOrder& order_;
  const Sizing& sizing_;
  MemoryBudget& window_;
  SplitQueue queue_;
  const std::uint64_t most_ahead_;
  std::uint64_t in_flight_ = 0;
  std::atomic<std::uint64_t> issued_{0};
};

}  // namespace forebay
