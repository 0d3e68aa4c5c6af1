#include "actors/format/column_fill.h"

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

}  // namespace

void SparseFill::start_offsets(std::size_t rows) {
  std::iota(offsets, offsets + rows + 1, std::int32_t{0});
  jagged = true;
}

std::size_t ColumnFill::Shape::dense_bytes() const {
  return (dense + 1) * stride(rows, sizeof(float)) +
         (origins ? stride(rows, sizeof(RowOrigin)) : 0);
}

std::size_t ColumnFill::Shape::sparse_bytes() const {
  return sparse * (stride(rows, sizeof(std::int64_t)) + stride(rows + 1, sizeof(std::int32_t)));
}

ColumnFill::ColumnFill(const Shape& shape, BufferPool& pool)
    : dense(shape.dense), sparse(shape.sparse), shape_(shape) {
  slabs_.push_back(pool.take(shape.dense_bytes()));
  std::byte* at = slabs_.back().data();
  labels = carve<float>(at, stride(shape.rows, sizeof(float)));
  for (float*& column : dense) column = carve<float>(at, stride(shape.rows, sizeof(float)));
  if (shape.origins) origins = carve<RowOrigin>(at, stride(shape.rows, sizeof(RowOrigin)));
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
  columns.slabs = std::move(slabs_);
  return columns;
}

}  // namespace forebay
