#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/format/format.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// A sparse column being filled. While every row has had exactly one id, `offsets` is not
/// written: most columns never need it.
struct SparseFill {
  std::int64_t* values = nullptr;
  std::int32_t* offsets = nullptr;
  std::size_t count = 0;  ///< Ids so far.
  bool jagged = false;    ///< Some row had another number of ids; `offsets` counts.

  /// Ends row number `row`, whose ids have been appended.
  void end_row(std::size_t row) {
    if (!jagged) {
      if (count == row + 1) return;
      start_offsets(row);
    }
    offsets[row + 1] = static_cast<std::int32_t>(count);
  }

  /// Writes the offsets of `rows` rows with one id each and begins to count.
  void start_offsets(std::size_t rows);
};

/// Room for the rows of a split, filled row after row by a decoder.
///
/// Owns the slabs, two of them, taken from the pool once. A vector store of 64 bytes at the end
/// of any column stays inside that column's room.
class ColumnFill {
 public:
  /// How many columns, and of how many rows at most.
  struct Shape {
    std::size_t rows = 0;
    std::size_t dense = 0;
    std::size_t sparse = 0;
    bool origins = false;

    std::size_t dense_bytes() const;
    std::size_t sparse_bytes() const;
  };

  ColumnFill(const Shape& shape, BufferPool& pool);

  std::size_t capacity() const { return shape_.rows; }
  /// The rows so far as a ColumnSet; the fill is empty afterwards.
  ColumnSet finish();

  std::size_t rows = 0;  ///< Complete rows.
  float* labels = nullptr;
  std::vector<float*> dense;
  std::vector<SparseFill> sparse;
  RowOrigin* origins = nullptr;  ///< nullptr when not asked for.

 private:
  Shape shape_;
  std::vector<Buffer> slabs_;
};

}  // namespace forebay
