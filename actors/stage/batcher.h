#pragma once

#include <cstddef>
#include <deque>

#include "core/data/batch.h"
#include "core/data/column_set.h"

namespace forebay {

/// Cuts rows that arrive as column sets (packed or not), in order, into batches of a fixed number
/// of rows.
///
/// Owns each set until its last row is in a batch. Deterministic: the same rows give the same
/// batches, however they were divided into sets. Belongs to one thread.
class Batcher {
 public:
  Batcher(std::size_t batch_size, BufferPool& pool) : batch_size_(batch_size), pool_(pool) {}

  /// Adds the rows of `columns`, except the first `skip`.
  void add(ColumnSet columns, std::size_t skip);

  std::size_t rows() const { return rows_; }
  bool full() const { return rows_ >= batch_size_; }

  /// Returns the next batch: `batch_size` rows, or all remaining rows if fewer are left. Requires
  /// rows() > 0. Fills all fields of the batch except `number` and `after`.
  Batch cut();

  /// Drops the rows that are not in a batch yet; returns their number.
  std::size_t drop();

  /// The digest of a batch's labels, dense values, lengths and ids: h(k) of CLI.md.
  static Digest digest(const Batch& batch);

 private:
  struct Piece {
    ColumnSet columns;
    std::size_t begin = 0;
  };
  struct Slice {
    const ColumnSet* columns;
    std::size_t begin;
    std::size_t end;
    std::size_t rows() const { return end - begin; }
  };

  std::vector<Slice> slices(std::size_t rows) const;
  Batch room_for(const std::vector<Slice>& parts);
  void consume(std::size_t rows);

  std::size_t batch_size_;
  BufferPool& pool_;
  std::deque<Piece> pieces_;
  std::size_t rows_ = 0;
};

}  // namespace forebay
