#pragma once

#include <cstdint>
#include <memory>

#include "actors/epoch_order.h"
#include "actors/pipeline_spec.h"
#include "actors/rank_share.h"
#include "actors/source/row_counts.h"
#include "actors/stage/split.h"
#include "core/data/batch.h"

namespace forebay {

/// Follows the splits of an order for one rank of a training, and says what of each the rank needs
/// for its share of the batches (design/ranks.md).
///
/// Where the rows run in one lane, a batch is a run of rows: the rank needs a split whole if it has
/// a row of its share, else not at all. Where they run in lanes, the rank needs its lanes of every
/// split. Plain state; belongs to one thread. What it refers to outlives it.
class RankWalk {
 public:
  struct Job {
    const EpochOrder& order;
    const RowCounts& counts;
    std::uint64_t batch_size = 1;
    bool drop_last = false;
    RankShare share;
  };

  /// Begins at `start`, in exact order.
  RankWalk(const Job& job, const Position& start);

  /// The number of batches in each epoch.
  std::uint64_t batches_per_epoch() const { return batches_; }

  /// What the rank needs of `split`, the next one.
  std::shared_ptr<const SplitShare> share_of(const SplitId& split) const;
  /// Goes on behind the split whose share this is.
  void pass(const SplitShare& share) { next_row_ = share.first_row + share.rows; }

 private:
  RowRange needed_lanes(std::uint64_t first_row, std::uint64_t rows) const;
  bool has_rows_of_share(std::uint64_t first, std::uint64_t end) const;

  const Job job_;
  const std::size_t lanes_;
  const std::uint64_t batches_;
  const std::uint64_t whole_;  // rows of an epoch in batches of full size
  std::uint64_t next_row_;     // rows of the epoch before the next split
};

/// The rows of an epoch that batches have: all that remain, or as many as fill batches.
std::uint64_t rows_given(std::uint64_t remaining, std::uint64_t batch_size, bool drop_last);

}  // namespace forebay
