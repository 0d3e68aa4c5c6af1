#include "actors/transform/column_memory.h"

#include <algorithm>
#include <cstring>

#include "core/base/check.h"

namespace forebay {
namespace {

/// Indices of the dropped sources in descending order, so that erasing one moves no source still to
/// be erased.
std::vector<std::size_t> dropped_sources(std::span<const ColumnTarget> targets) {
  std::vector<std::size_t> dropped;
  for (const ColumnTarget& target : targets) {
    if (target.drop_source) dropped.push_back(target.from);
  }
  std::sort(dropped.rbegin(), dropped.rend());
  return dropped;
}

SparseColumn copy_of(StepRun& run, const SparseColumn& source) {
  const std::size_t rows = run.columns.rows;
  const std::size_t count = source.count(rows);
  SparseColumn copy = hold_sparse(run, count);
  std::memcpy(copy.values, source.values, count * sizeof(std::int64_t));
  if (source.offsets == nullptr) {
    copy.offsets = nullptr;
  } else {
    std::memcpy(copy.offsets, source.offsets, (rows + 1) * sizeof(std::int32_t));
  }
  return copy;
}

}  // namespace

float* hold_dense(StepRun& run) {
  run.columns.slabs.push_back(run.context.pool.take(run.columns.rows * sizeof(float)));
  return run.columns.slabs.back().as<float>();
}

SparseColumn hold_sparse(StepRun& run, std::size_t ids) {
  const std::size_t values_bytes =
      (ids * sizeof(std::int64_t) + Buffer::kPadding - 1) / Buffer::kPadding * Buffer::kPadding;
  const std::size_t offsets_bytes = (run.columns.rows + 1) * sizeof(std::int32_t);
  run.columns.slabs.push_back(run.context.pool.take(values_bytes + offsets_bytes));
  const Buffer& slab = run.columns.slabs.back();
  SparseColumn column;
  column.values = slab.as<std::int64_t>();
  column.offsets = reinterpret_cast<std::int32_t*>(slab.data() + values_bytes);
  column.offsets[0] = 0;
  return column;
}

void put_dense(ColumnSet& columns, std::size_t index, float* values) {
  FOREBAY_CHECK(index <= columns.dense.size());
  if (index == columns.dense.size()) columns.dense.emplace_back();
  columns.dense[index] = values;
}

void put_sparse(ColumnSet& columns, std::size_t index, SparseColumn column) {
  FOREBAY_CHECK(index <= columns.sparse.size());
  if (index == columns.sparse.size()) columns.sparse.emplace_back();
  columns.sparse[index] = column;
}

float* dense_target(StepRun& run, const ColumnTarget& target) {
  if (target.from == target.to) return run.columns.dense[target.to];
  float* copy = hold_dense(run);
  std::memcpy(copy, run.columns.dense[target.from], run.columns.rows * sizeof(float));
  put_dense(run.columns, target.to, copy);
  return copy;
}

SparseColumn& sparse_target(StepRun& run, const ColumnTarget& target) {
  if (target.from != target.to) {
    put_sparse(run.columns, target.to, copy_of(run, run.columns.sparse[target.from]));
  }
  return run.columns.sparse[target.to];
}

void bound_dense_targets(SizeBound& size, std::span<const ColumnTarget> targets) {
  for (const ColumnTarget& target : targets) {
    if (target.from != target.to) size.hold_dense();
  }
}

void bound_sparse_targets(SizeBound& size, std::span<const ColumnTarget> targets) {
  std::vector<SizeBound::Copy> copies;
  for (const ColumnTarget& target : targets) {
    if (target.from != target.to) copies.push_back({target.from, target.to});
  }
  size.hold_copies(copies, 0);
}

void drop_dense_sources(ColumnSet& columns, std::span<const ColumnTarget> targets) {
  for (const std::size_t index : dropped_sources(targets)) {
    columns.dense.erase(columns.dense.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

void drop_sparse_sources(ColumnSet& columns, std::span<const ColumnTarget> targets) {
  for (const std::size_t index : dropped_sources(targets)) {
    columns.sparse.erase(columns.sparse.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

void bound_dropped(SizeBound& size, std::span<const ColumnTarget> targets) {
  for (const std::size_t index : dropped_sources(targets)) size.drop_sparse(index);
}

}  // namespace forebay
