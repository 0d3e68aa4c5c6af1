#include "actors/format/csv/id_lists.h"

#include <algorithm>
#include <utility>

namespace forebay {
namespace {

constexpr std::size_t kLine = 64;

std::size_t offset_entries(std::size_t rows) { return (rows + kLine) / 16 * 16; }

/// Each id is at least one byte long and is followed by a delimiter.
std::size_t most_ids(std::size_t raw_bytes) { return raw_bytes / 2 + 1; }

std::size_t value_bytes(std::size_t columns, std::size_t ids) {
  return ids * sizeof(std::int64_t) + columns * 2 * kLine;
}

}  // namespace

IdLists::IdLists(std::size_t columns, std::size_t rows, std::size_t raw_bytes, BufferPool& pool)
    : num_columns_(columns),
      offset_stride_(offset_entries(rows)),
      waiting_(pool.take(most_ids(raw_bytes) * sizeof(std::int64_t))),
      offsets_(pool.take(columns * offset_stride_ * sizeof(std::int32_t))) {
  for (std::size_t i = 0; i < columns; ++i) offsets_.as<std::int32_t>()[i * offset_stride_] = 0;
}

void IdLists::end_list() {
  std::int32_t* const offsets = offsets_.as<std::int32_t>() + column_ * offset_stride_;
  const std::size_t ids = num_waiting_ - std::exchange(list_begin_, num_waiting_);
  offsets[row_ + 1] = offsets[row_] + static_cast<std::int32_t>(ids);
  if (++column_ == num_columns_) {
    column_ = 0;
    ++row_;
  }
}

void IdLists::finish(ColumnSet& columns, BufferPool& pool) {
  Buffer values = pool.take(value_bytes(num_columns_, num_waiting_));
  std::byte* at = values.data();
  for (std::size_t i = 0; i < num_columns_; ++i) {
    SparseColumn column{.values = reinterpret_cast<std::int64_t*>(at),
                        .offsets = offsets_.as<std::int32_t>() + i * offset_stride_};
    at += (column.count(columns.rows) * sizeof(std::int64_t) + 2 * kLine - 1) / kLine * kLine;
    columns.sparse.push_back(column);
  }
  const std::int64_t* next = waiting_.as<const std::int64_t>();
  for (std::size_t row = 0; row < columns.rows; ++row) {
    for (const SparseColumn& column : columns.sparse) {
      const std::int64_t* const first = next;
      next += column.offsets[row + 1] - column.offsets[row];
      std::copy(first, next, column.values + column.offsets[row]);
    }
  }
  columns.slabs.push_back(std::move(values));
  columns.slabs.push_back(std::move(offsets_));
  waiting_ = Buffer();
}

std::size_t IdLists::bytes(std::size_t columns, std::size_t rows, std::size_t raw_bytes) {
  return most_ids(raw_bytes) * sizeof(std::int64_t) + value_bytes(columns, most_ids(raw_bytes)) +
         columns * offset_entries(rows) * sizeof(std::int32_t);
}

}  // namespace forebay
