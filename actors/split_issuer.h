#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <vector>

#include "actors/epoch_order.h"
#include "actors/pipeline_spec.h"
#include "actors/rank_share.h"
#include "actors/rank_walk.h"
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

/// Returns a split of which a rank needs no row, as it goes to the reorder buffer.
Split split_left_out(const SplitId& id, std::shared_ptr<const SplitShare> share);

/// Issues splits, in order, as long as they fit the window.
///
/// A rank of a training reads nothing of an epoch before the batch before the last one of the epoch
/// before is taken: it would read ahead as many bytes as a single trainer, and so several times as
/// large a part of a small dataset.
///
/// Owns the queue of splits to issue. Belongs to one thread, the batch actor's once the pools run;
/// other threads may call issued() only. The objects passed by reference outlive it.
class SplitIssuer {
 public:
  /// How far arrival order may run ahead of the lowest missing split. The bound keeps its state
  /// below 1 KB.
  static constexpr std::uint64_t kMostAhead = 96;

  /// `walk` says what the rank of a training needs of each split; none: all of it.
  SplitIssuer(const OrderSpec& spec, const Position& start, const EpochOrder& order,
              const Sizing& sizing, MemoryBudget& window, std::optional<RankWalk> walk);

  /// Issues the next split; none when it does not fit now, or all splits were issued. A split of
  /// which no row is needed is issued without blocks, complete. `lowest_missing` is the number of
  /// the lowest split that the reorder buffer has not received.
  std::optional<Split> next(std::uint64_t lowest_missing);

  /// The consumer has taken so many batches of the job. Returns whether next() held a split back
  /// for this, and has to be called again. Any thread.
  bool taken(std::uint64_t batches);

  /// The reorder buffer has taken all rows of split `number`: returns the split's window bytes.
  void batched(std::uint64_t number);

  std::uint64_t issued() const { return issued_.load(std::memory_order_relaxed); }

 private:
  Split front_split(const SplitId& id) const;
  bool is_for_later(const SplitId& id);
  bool take_room(const SplitId& id);

  const EpochOrder& order_;
  const Sizing& sizing_;
  MemoryBudget& window_;
  SplitQueue queue_;
  std::optional<RankWalk> walk_;
  const std::uint64_t most_ahead_;
  std::unordered_map<std::uint64_t, std::uint64_t> in_flight_;  // number → cost
  std::atomic<std::uint64_t> issued_{0};
  std::atomic<std::uint64_t> taken_{0};
  std::atomic<bool> held_back_{false};
};

/// The splits that were issued and have not arrived yet. Each split is taken once, by the first
/// node that delivers it. Bounded by the window. Any thread.
class ExpectedSplits {
 public:
  /// `share`: what the rank of a training needs of it; null: all.
  void add(const SplitId& id, std::shared_ptr<const SplitShare> share = nullptr) {
    serial_([&] { issued_.emplace(id.number, Issued{id, std::move(share)}); });
  }

  /// Whether split `number` has not arrived yet.
  bool contains(std::uint64_t number) const {
    return serial_([&] { return issued_.contains(number); });
  }

  /// All splits that have not arrived yet, in no particular order.
  std::vector<SplitId> all() const {
    return serial_([&] {
      std::vector<SplitId> ids;
      ids.reserve(issued_.size());
      for (const auto& [number, issued] : issued_) ids.push_back(issued.id);
      return ids;
    });
  }

  /// What a rank needs of split `number`; null if that is all of it, or if it has arrived.
  std::shared_ptr<const SplitShare> share_of(std::uint64_t number) const {
    return serial_([&]() -> std::shared_ptr<const SplitShare> {
      const auto found = issued_.find(number);
      return found == issued_.end() ? nullptr : found->second.share;
    });
  }

  /// Removes split `number` and returns it as it was issued; returns nothing if it was taken before
  /// or never issued.
  [[nodiscard]] std::optional<SplitId> take(std::uint64_t number) {
    return serial_([&]() -> std::optional<SplitId> {
      auto node = issued_.extract(number);
      if (node.empty()) return std::nullopt;
      return node.mapped().id;
    });
  }

 private:
  struct Issued {
    SplitId id;
    std::shared_ptr<const SplitShare> share;
  };

  const Synchronized<> serial_{};
  std::unordered_map<std::uint64_t, Issued> issued_;
};

}  // namespace forebay
