#pragma once

#include <cstddef>
#include <cstdint>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// Sparse columns of lists, taken in row by row. How many ids each column gets is known only at
/// the end, so they wait in one run and are dealt out to their columns by `finish`.
class IdLists {
 public:
  /// Room for `rows` rows of `columns` lists, cut from `raw_bytes` bytes of text.
  IdLists(std::size_t columns, std::size_t rows, std::size_t raw_bytes, BufferPool& pool);

  void add(std::int64_t id) { waiting_.as<std::int64_t>()[num_waiting_++] = id; }
  /// Ends a list; the lists of a row come in the order of the columns.
  void end_list();

  /// Adds the sparse columns, of `columns.rows` rows, to `columns`.
  void finish(ColumnSet& columns, BufferPool& pool);

  /// The most bytes that are held at any time.
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
