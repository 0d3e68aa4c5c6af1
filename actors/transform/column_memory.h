#pragma once

#include <cstddef>
#include <span>

#include "actors/transform/column_binder.h"
#include "actors/transform/step.h"

namespace forebay {

/// Allocates memory for an additional dense column; the split owns it.
float* hold_dense(StepRun& run);

/// Allocates memory for a list column of up to `ids` ids. Sets offsets[0] to 0; the caller writes
/// the rest.
SparseColumn hold_sparse(StepRun& run, std::size_t ids);

/// Stores a column at `index`, at most one past the end of its list.
void put_dense(ColumnSet& columns, std::size_t index, float* values);
void put_sparse(ColumnSet& columns, std::size_t index, SparseColumn column);

/// Returns the column that an in-place operator works on: its target. If the target is not the
/// source, the source is copied to it first.
float* dense_target(StepRun& run, const ColumnTarget& target);
SparseColumn& sparse_target(StepRun& run, const ColumnTarget& target);
void bound_dense_targets(SizeBound& size, std::span<const ColumnTarget> targets);
void bound_sparse_targets(SizeBound& size, std::span<const ColumnTarget> targets);

/// Removes the dropped sources from their list.
void drop_dense_sources(ColumnSet& columns, std::span<const ColumnTarget> targets);
void drop_sparse_sources(ColumnSet& columns, std::span<const ColumnTarget> targets);
void bound_dropped(SizeBound& size, std::span<const ColumnTarget> targets);

/// The ids of one row.
inline std::span<std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  if (column.offsets == nullptr) return {column.values + row, 1};
  const auto first = static_cast<std::size_t>(column.offsets[row]);
  const auto last = static_cast<std::size_t>(column.offsets[row + 1]);
  return {column.values + first, last - first};
}

}  // namespace forebay
