#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actors/cursor.h"
#include "actors/damaged_rows.h"
#include "actors/order_spec.h"
#include "actors/sequencer.h"
#include "actors/stage/batcher.h"
#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/data/batch.h"

namespace forebay {

/// Where a ReorderBuffer's results go. Called on the reorder buffer's thread.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  /// Takes a finished batch; may block. False: stopped, send no more.
  virtual bool emit(std::shared_ptr<const Batch> batch) = 0;
  /// The rows of this split have joined the line: its place in the window is free.
  virtual void batched(const SplitId& id) = 0;
  /// Damaged rows of a split, each once in a run; an error (too many) ends the run.
  virtual Status damaged(const std::vector<BadRow>& rows) = 0;
  /// The error that ends a run in which this row, made by `node`, was sound in the first epoch and
  /// is damaged in a later one.
  virtual Error newly_damaged(const BadRow& row, const std::string& node) = 0;
};

/// Puts splits back in order and cuts them into batches, each with the loader's state after it.
///
/// Owns the splits from their arrival to their last row. Belongs to one thread; blocks only
/// inside its sink.
class ReorderBuffer {
 public:
  ReorderBuffer(const OrderSpec& order, std::size_t splits_per_epoch, const Position& start,
                BufferPool& pool, BatchSink& sink);

  /// Takes a split in any order and emits every batch that it completes. kCorrupt where the start
  /// position turns out not to fit the splits' rows.
  Status add(ColumnSplit split);

  /// Whether the last batch of the last epoch has been emitted.
  bool finished() const { return cursor_.epoch() >= order_.epochs; }

  /// The position after everything emitted; at the end, the end.
  Position position() const { return cursor_.position(); }

  /// Splits below this one of the epoch being given out have all arrived.
  std::uint64_t lowest_missing() const {
    return cursor_.epoch() * splits_per_epoch_ + cursor_.lowest_missing();
  }

 private:
  Status append(ColumnSplit split);
  Status check_damaged(const ColumnSplit& split);
  void emit(std::size_t at_least);
  Status end_epoch();

  const OrderSpec order_;
  const std::size_t splits_per_epoch_;
  BatchSink& sink_;
  Cursor cursor_;
  Sequencer sequencer_;
  Batcher batcher_;
  DamagedRows first_damaged_;
  bool stopped_ = false;
};

}  // namespace forebay
