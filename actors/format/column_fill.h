#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// A sparse column being filled. `offsets` is written only from the first row on that does not have
/// exactly one id; most columns never need it.
struct SparseFill {
  std::int64_t* values = nullptr;
  std::int32_t* offsets = nullptr;
  std::size_t count = 0;  ///< Ids written so far.
  bool jagged = false;    ///< A row did not have exactly one id, so `offsets` is valid.

  /// Ends row number `row`; the caller has appended the row's ids.
  void end_row(std::size_t row) {
    if (!jagged) {
      if (count == row + 1) return;
      start_offsets(row);
    }
    offsets[row + 1] = static_cast<std::int32_t>(count);
  }

  /// Writes the offsets of the `rows` rows so far, one id each, and sets `jagged`.
  void start_offsets(std::size_t rows);
};

/// The bytes that a sparse column of `ids` ids in `rows` lists takes in a slab.
constexpr std::size_t list_column_bytes(std::size_t rows, std::size_t ids) {
  return SlabCarver::aligned<std::int64_t>(ids) + SlabCarver::aligned<std::int32_t>(rows + 1);
}

/// Memory for the rows of a split, which a decoder fills row by row.
///
/// Owns two slabs, each taken from the pool once. A vector store of 64 bytes at the end of any
/// column stays inside that column's memory.
class ColumnFill {
 public:
  /// Number of columns, and the most rows each of them can hold.
  struct Shape {
    std::size_t rows = 0;
    std::size_t dense = 0;
    std::size_t sparse = 0;
    bool origins = false;
    bool weights = false;
    std::size_t extras = 0;

    std::size_t dense_bytes() const;
    std::size_t sparse_bytes() const;
  };

  ColumnFill(const Shape& shape, BufferPool& pool);

  std::size_t capacity() const { return shape_.rows; }
  /// Returns the rows so far as a ColumnSet; the fill is empty afterwards.
  ColumnSet finish();

  std::size_t rows = 0;  ///< Complete rows.
  float* labels = nullptr;
  std::vector<float*> dense;
  std::vector<SparseFill> sparse;
  RowOrigin* origins = nullptr;  ///< nullptr if origins were not requested.
  float* weights = nullptr;      ///< nullptr if rows have no weights.
  std::vector<std::int64_t*> extras;

 private:
  Shape shape_;
  std::vector<Buffer> slabs_;
};

/// Collects sparse columns of lists row by row. The number of ids of each column is known only at
/// the end, so the ids of all columns wait in one buffer until `finish` distributes them to their
/// columns.
class IdLists {
 public:
  /// Allocates memory for `rows` rows of `columns` lists, parsed from `raw_bytes` bytes of text.
  IdLists(std::size_t columns, std::size_t rows, std::size_t raw_bytes, BufferPool& pool);

  void add(std::int64_t id) { waiting_.as<std::int64_t>()[num_waiting_++] = id; }
  /// Ends a list; the lists of a row are added in column order.
  void end_list();

  /// Adds the sparse columns, of `columns.rows` rows, to `columns`.
  void finish(ColumnSet& columns, BufferPool& pool);

  /// The most bytes that an IdLists holds at any time.
  static std::size_t bytes(std::size_t columns, std::size_t rows, std::size_t raw_bytes);

 private:
  const std::size_t num_columns_;
  const std::size_t offset_stride_;  // Entries between two columns' offsets.
  Buffer waiting_;                   // Ids, row by row.
  Buffer offsets_;
  std::size_t num_waiting_ = 0;
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  std::size_t list_begin_ = 0;
};

}  // namespace forebay
