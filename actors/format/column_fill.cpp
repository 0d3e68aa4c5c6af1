#include "actors/format/column_fill.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace forebay {
namespace {

constexpr std::size_t kLine = 64;

/// Bytes between the starts of two columns of `count` entries. Leaves space for a vector store past
/// the end, and is an odd number of cache lines, so that columns do not compete for one cache set.
std::size_t stride(std::size_t count, std::size_t entry_bytes) {
  const std::size_t lines = (count * entry_bytes + kLine - 1) / kLine + 1;
  return (lines | 1) * kLine;
}

template <class T>
T* carve(std::byte*& at, std::size_t bytes) {
  return reinterpret_cast<T*>(std::exchange(at, at + bytes));
}

std::size_t offset_entries(std::size_t rows) { return (rows + kLine) / 16 * 16; }

/// Each id is at least one byte long and is followed by a delimiter.
std::size_t most_ids(std::size_t raw_bytes) { return raw_bytes / 2 + 1; }

std::size_t value_bytes(std::size_t columns, std::size_t ids) {
  return ids * sizeof(std::int64_t) + columns * 2 * kLine;
}

}  // namespace

void SparseFill::start_offsets(std::size_t rows) {
  std::iota(offsets, offsets + rows + 1, std::int32_t{0});
  jagged = true;
}

std::size_t ColumnFill::Shape::dense_bytes() const {
  return (dense + 1) * stride(rows, sizeof(float)) +
         (origins ? stride(rows, sizeof(RowOrigin)) : 0) +
         (weights ? stride(rows, sizeof(float)) : 0) + extras * stride(rows, sizeof(std::int64_t));
}

std::size_t ColumnFill::Shape::sparse_bytes() const {
  return sparse * (stride(rows, sizeof(std::int64_t)) + stride(rows + 1, sizeof(std::int32_t)));
}

ColumnFill::ColumnFill(const Shape& shape, BufferPool& pool)
    : dense(shape.dense), sparse(shape.sparse), extras(shape.extras), shape_(shape) {
  slabs_.push_back(pool.take(shape.dense_bytes()));
  std::byte* at = slabs_.back().data();
  labels = carve<float>(at, stride(shape.rows, sizeof(float)));
  for (float*& column : dense) column = carve<float>(at, stride(shape.rows, sizeof(float)));
  if (shape.origins) origins = carve<RowOrigin>(at, stride(shape.rows, sizeof(RowOrigin)));
  if (shape.weights) weights = carve<float>(at, stride(shape.rows, sizeof(float)));
  for (std::int64_t*& column : extras) {
    column = carve<std::int64_t>(at, stride(shape.rows, sizeof(std::int64_t)));
  }
  if (shape.sparse == 0) return;
  slabs_.push_back(pool.take(shape.sparse_bytes()));
  at = slabs_.back().data();
  for (SparseFill& column : sparse) {
    column.values = carve<std::int64_t>(at, stride(shape.rows, sizeof(std::int64_t)));
    column.offsets = carve<std::int32_t>(at, stride(shape.rows + 1, sizeof(std::int32_t)));
  }
}

ColumnSet ColumnFill::finish() {
  ColumnSet columns;
  columns.rows = std::exchange(rows, 0);
  columns.labels = labels;
  columns.dense = std::move(dense);
  for (const SparseFill& column : sparse) {
    const bool all_have_one = !column.jagged || column.count == columns.rows;
    columns.sparse.push_back({column.values, all_have_one ? nullptr : column.offsets});
  }
  columns.origins = origins;
  columns.weights = weights;
  columns.extras = std::move(extras);
  columns.slabs = std::move(slabs_);
  return columns;
}

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
