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

/// Receives a ReorderBuffer's results. Called on the reorder buffer's thread.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  /// Takes a finished batch; may block. Returns false if the run was stopped; send no more batches
  /// then.
  virtual bool emit(std::shared_ptr<const Batch> batch) = 0;
  /// The rows of split `id` have joined the line; its bytes of the window are free.
  virtual void batched(const SplitId& id) = 0;
  /// Receives damaged rows of a split, each once per run; an error (too many) ends the run.
  virtual Status damaged(const std::vector<BadRow>& rows) = 0;
  /// Returns the error that ends a run in which `row`, made by `node`, was sound in the first epoch
  /// and is damaged in a later one.
  virtual Error newly_damaged(const BadRow& row, const std::string& node) = 0;
};

/// Puts splits back in order and cuts them into batches, each with the loader's state after it.
///
/// Owns each split from its arrival until its last row is in a batch. Belongs to one thread; blocks
/// only inside its sink.
class ReorderBuffer {
 public:
  ReorderBuffer(const OrderSpec& order, std::size_t splits_per_epoch, const Position& start,
                BufferPool& pool, BatchSink& sink);

  /// Adds a split; splits may come in any order. Emits every batch that the split completes.
  /// Returns kCorrupt if the start position does not fit the splits' rows.
  Status add(Split split);

  /// Whether the last batch of the last epoch has been emitted.
  bool finished() const { return cursor_.epoch() >= order_.epochs; }

  /// The position after all emitted batches; after the last batch, the end position.
  Position position() const { return cursor_.position(); }

  /// All splits below this one in the epoch being given out have arrived.
  std::uint64_t lowest_missing() const {
    return cursor_.epoch() * splits_per_epoch_ + cursor_.lowest_missing();
  }

 private:
  Status append(Split split);
  Status check_damaged(const Split& split);
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
