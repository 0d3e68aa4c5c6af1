#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "actors/cursor.h"
#include "actors/format/raw_split.h"
#include "actors/pipeline_spec.h"
#include "actors/rank_share.h"
#include "actors/stage/batcher.h"
#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/data/batch.h"
#include "core/data/column_set.h"

namespace forebay {

/// The damaged rows of the first epoch, against which later epochs are checked. Every block's
/// content is checked as it is read, so a row that is damaged only in a later epoch means that some
/// node decodes wrongly.
///
/// Keeps at most kMost locations (a few hundred KiB); above that number no row is reported any
/// more. Belongs to one thread.
class DamagedRows {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 14;

  /// `complete`: the run begins with the first epoch and therefore meets all of its rows.
  explicit DamagedRows(bool complete) : complete_(complete) {}

  /// Adds damaged rows of the first epoch.
  void add(const std::vector<BadRow>& rows) {
    if (!complete_) return;
    for (const BadRow& row : rows) places_.insert(RowOrigin::of(row.file, row.offset).packed);
    if (places_.size() <= kMost) return;
    complete_ = false;
    places_.clear();
  }

  /// Returns the first of `rows` that was not damaged in the first epoch, or nullptr if the first
  /// epoch found all of them damaged.
  const BadRow* first_other(const std::vector<BadRow>& rows) const {
    if (!complete_) return nullptr;
    const auto other = std::find_if(rows.begin(), rows.end(), [this](const BadRow& row) {
      return !places_.contains(RowOrigin::of(row.file, row.offset).packed);
    });
    return other == rows.end() ? nullptr : &*other;
  }

 private:
  bool complete_;
  std::unordered_set<std::uint64_t> places_;
};

/// Holds splits, or their parts, that arrive before they may be used.
///
/// In exact order a split may be used when all splits before it have been used; in arrival order,
/// when its epoch has begun and the split that an earlier run gave out in part has been used. The
/// parts of a split are used in their order, with no other split between them. Bounded by the
/// window, which each split's bytes are part of; belongs to one thread.
class Sequencer {
 public:
  /// `first` is the number of the first split to use. In arrival order it has to be the first one
  /// only if it `is_open`: some of its rows have been given out.
  Sequencer(OrderSpec::Mode mode, std::uint64_t first, bool is_open)
      : mode_(mode), next_{first, 0}, waits_for_first_(is_open) {}

  void add(Split split) {
    const Place place{split.id.number, split.part};
    waiting_bytes_ += split.id.cost;
    waiting_.emplace(place, std::move(split));
  }

  /// Bytes reserved for those that may not be used yet.
  std::uint64_t waiting_bytes() const { return waiting_bytes_; }

  /// The next split that may be used while `epoch` is being given out.
  std::optional<Split> next(std::uint64_t epoch) {
    const bool by_place = mode_ == OrderSpec::Mode::kExact || waits_for_first_ || next_.part > 0;
    const auto found = by_place ? waiting_.find(next_) : first_that_begins_a_split();
    if (found == waiting_.end() || found->second.id.epoch != epoch) return std::nullopt;
    waits_for_first_ = false;
    Split split = std::move(waiting_.extract(found).mapped());
    waiting_bytes_ -= split.id.cost;
    const bool is_last = split.part + 1 == split.parts;
    next_ = is_last ? Place{split.id.number + 1, 0} : Place{split.id.number, split.part + 1};
    return split;
  }

 private:
  struct Place {
    std::uint64_t number = 0;
    std::uint32_t part = 0;
    auto operator<=>(const Place&) const = default;
  };
  using Waiting = std::map<Place, Split>;

  Waiting::iterator first_that_begins_a_split() {
    return std::ranges::find(waiting_, 0U, [](const auto& entry) { return entry.first.part; });
  }

  const OrderSpec::Mode mode_;
  Place next_;  // In arrival order it counts only within a split.
  bool waits_for_first_;
  Waiting waiting_;
  std::uint64_t waiting_bytes_ = 0;
};

/// Receives a ReorderBuffer's results. Called on the reorder buffer's thread.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  /// Takes a finished batch; may block. Returns false if the run was stopped; send no more batches
  /// then.
  virtual bool emit(std::shared_ptr<const Batch> batch) = 0;
  /// The rows of a split, or of a part of it, have joined the line; its bytes are free. `is_last`:
  /// no part of the split is to come.
  virtual void batched(const SplitId& id, bool is_last) = 0;
  /// Receives what repeats in each group of repeated columns of a split.
  virtual void repeated(const std::vector<RepeatCount>& groups) = 0;
  /// Receives damaged rows of a split, each once per run; an error (too many) ends the run.
  virtual Status damaged(const std::vector<BadRow>& rows) = 0;
  /// Returns the error that ends a run in which `row`, made by `node`, was sound in the first epoch
  /// and is damaged in a later one.
  virtual Error newly_damaged(const BadRow& row, const std::string& node) = 0;
};

/// What an epoch is made of.
struct EpochShape {
  std::size_t splits = 1;
  std::size_t lanes = 1;  ///< EpochOrder::lanes()
  /// One rank's part of the batches.
  RankedBatches ranked = {};
};

/// Puts splits back in order and cuts them into batches, each with the loader's state after it.
///
/// Owns each split from its arrival until its last row is in a batch. Belongs to one thread; blocks
/// only inside its sink.
class ReorderBuffer {
 public:
  ReorderBuffer(const OrderSpec& order, const EpochShape& epoch, const Position& start,
                BufferPool& pool, BatchSink& sink);

  /// As Batcher::copy_with().
  void copy_with(ThreadTeam& team) { batcher_.copy_with(team); }

  /// Adds a split or a part of one; they may come in any order. Emits every batch that it
  /// completes. Returns kCorrupt if the start position does not fit the splits' rows, and kInvalid
  /// if a whole epoch of a stream without an end gave no batch.
  Status add(Split split);

  /// Whether the last batch of the last epoch has been emitted.
  bool finished() const { return cursor_.epoch() >= order_.epochs; }

  /// The position after all emitted batches; after the last batch, the end position.
  Position position() const { return cursor_.position(); }

  /// Bytes reserved for splits that wait for a lower one.
  std::uint64_t waiting_bytes() const { return sequencer_.waiting_bytes(); }

  /// All splits below this one in the epoch being given out have arrived.
  std::uint64_t lowest_missing() const {
    return cursor_.epoch() * splits_per_epoch_ + cursor_.lowest_missing();
  }

 private:
  /// The epoch being given out.
  struct Epoch {
    bool whole = false;  ///< From its first row on.
    std::uint64_t rows = 0;
    std::uint64_t batches = 0;
  };

  Status append(Split split);
  Status check_damaged(const Split& split);
  void emit(std::size_t at_least);
  Status end_epoch();

  const OrderSpec order_;
  const std::size_t splits_per_epoch_;
  const std::size_t split_rows_;  // of the position that the run started at
  BatchSink& sink_;
  Cursor cursor_;
  Sequencer sequencer_;
  Batcher batcher_;
  DamagedRows first_damaged_;
  Epoch epoch_;
  bool stopped_ = false;
};

}  // namespace forebay
