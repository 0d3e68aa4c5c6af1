#pragma once

#include <cstddef>
#include <cstdint>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

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
