#include "actors/stage/rows/row_mover.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "actors/stage/rows/row_gather.h"
#include "actors/stage/rows/row_scatter.h"

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;

/// Moves all columns that sets like `first` have.
template <class Mover>
void move_columns(const ColumnSet& first, const Mover& mover, ColumnSet& moved) {
  moved.labels = mover.values([](const ColumnSet& set) { return set.labels; });
  if (first.origins != nullptr) {
    moved.origins = mover.values([](const ColumnSet& set) { return set.origins; });
  }
  moved.dense.assign(first.dense.size(), nullptr);
  for (std::size_t i = 0; i < first.dense.size(); ++i) {
    if (first.dense[i] == nullptr) continue;
    moved.dense[i] = mover.values([i](const ColumnSet& set) { return set.dense[i]; });
  }
  moved.sparse.resize(first.sparse.size());
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values != nullptr) moved.sparse[i] = mover.lists(i);
  }
  for (std::size_t group = 0; group < first.repeated.size(); ++group) {
    moved.repeated.push_back(mover.repeated(group));
  }
  if (first.weights != nullptr) {
    moved.weights = mover.values([](const ColumnSet& set) { return set.weights; });
  }
  for (std::size_t i = 0; i < first.extras.size(); ++i) {
    moved.extras.push_back(mover.values([i](const ColumnSet& set) { return set.extras[i]; }));
  }
}

/// A set for the rows of `slices`, with memory and without columns.
ColumnSet empty_set(Slices slices, std::size_t rows, BufferPool& pool) {
  ColumnSet set;
  set.rows = rows;
  set.slabs.push_back(pool.take(moved_bytes(slices, rows)));
  return set;
}

}  // namespace

std::size_t rows_of(Slices slices) {
  return std::transform_reduce(slices.begin(), slices.end(), std::size_t{0}, std::plus<>(),
                               [](const RowSlice& slice) { return slice.rows(); });
}

std::size_t ids_of(Slices slices, std::size_t feature) {
  std::size_t ids = 0;
  for (const RowSlice& slice : slices) {
    const SparseColumn& column = slice.columns->sparse[feature];
    ids += column.first_id(slice.end) - column.first_id(slice.begin);
  }
  return ids;
}

bool has_one_each(Slices slices, std::size_t feature) {
  return std::ranges::all_of(slices, [feature](const RowSlice& slice) {
    return slice.columns->sparse[feature].offsets == nullptr;
  });
}

bool at_most_one(const std::int32_t* offsets, std::size_t rows) {
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < rows; ++i) longest = std::max(longest, offsets[i + 1] - offsets[i]);
  return longest <= 1;
}

std::size_t moved_bytes(Slices slices, std::size_t rows) {
  const ColumnSet& first = *slices.front().columns;
  const auto dense = first.dense.size() - static_cast<std::size_t>(std::ranges::count(
                                              first.dense, static_cast<float*>(nullptr)));
  std::size_t bytes = SlabCarver::aligned<float>(rows) * (dense + 1);
  bytes += SlabCarver::aligned<UniqueRow>(rows) * first.repeated.size();
  if (first.origins != nullptr) bytes += SlabCarver::aligned<RowOrigin>(rows);
  if (first.weights != nullptr) bytes += SlabCarver::aligned<float>(rows);
  bytes += SlabCarver::aligned<std::int64_t>(rows) * first.extras.size();
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values == nullptr) continue;
    bytes += SlabCarver::aligned<std::int64_t>(ids_of(slices, i));
    if (!has_one_each(slices, i)) bytes += SlabCarver::aligned<std::int32_t>(rows + 1);
  }
  return bytes;
}

ColumnSet move_rows(Slices slices, std::span<const std::uint32_t> places, BufferPool& pool) {
  ColumnSet moved = empty_set(slices, places.size(), pool);
  SlabCarver carver(moved.slabs.back().data());
  move_columns(*slices.front().columns, RowScatter(slices, places, carver), moved);
  return moved;
}

ColumnSet gather_rows(const RowSlice& slice, std::span<const std::uint32_t> sources,
                      BufferPool& pool) {
  ColumnSet moved = empty_set({&slice, 1}, sources.size(), pool);
  SlabCarver carver(moved.slabs.back().data());
  move_columns(*slice.columns, RowGather(slice, sources, carver), moved);
  return moved;
}

}  // namespace forebay
