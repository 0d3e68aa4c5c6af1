#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/pipeline_spec.h"
#include "actors/sizing.h"
#include "actors/stage/split.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/runtime/synchronized.h"

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

/// Returns a split as it is issued: its id, with the cost filled in, and its blocks.
Split split_to_make(const SplitId& id, const EpochOrder& order, const Sizing& sizing);

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

  /// Issues the next split; none when it does not fit now, or all splits were issued.
  /// `lowest_missing` is the number of the lowest split that the reorder buffer has not received.
  std::optional<Split> next(std::uint64_t lowest_missing);

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

/// The splits that were issued and have not arrived yet. Each split is taken once, by the first
/// node that delivers it. Bounded by the window. Any thread.
class ExpectedSplits {
 public:
  void add(const SplitId& id) {
    serial_([&] { ids_.emplace(id.number, id); });
  }

  /// Whether split `number` has not arrived yet.
  bool contains(std::uint64_t number) const {
    return serial_([&] { return ids_.contains(number); });
  }

  /// All splits that have not arrived yet, in no particular order.
  std::vector<SplitId> all() const {
    return serial_([&] {
      std::vector<SplitId> ids;
      ids.reserve(ids_.size());
      for (const auto& [number, id] : ids_) ids.push_back(id);
      return ids;
    });
  }

  /// Removes split `number` and returns it as it was issued; returns nothing if it was taken before
  /// or never issued.
  [[nodiscard]] std::optional<SplitId> take(std::uint64_t number) {
    return serial_([&]() -> std::optional<SplitId> {
      auto node = ids_.extract(number);
      if (node.empty()) return std::nullopt;
      return node.mapped();
    });
  }

 private:
  const Synchronized<> serial_{};
  std::unordered_map<std::uint64_t, SplitId> ids_;
};

}  // namespace forebay
