#include "actors/stage/rows/row_mover.h"

#include <algorithm>

#include "actors/stage/rows/row_gather.h"

namespace forebay {
namespace {

using Slices = std::span<const RowSlice>;

std::size_t set_bytes(Slices slices) {
  const ColumnSet& first = *slices.front().columns;
  const std::size_t rows = rows_of(slices);
  const auto dense = first.dense.size() - static_cast<std::size_t>(std::ranges::count(
                                              first.dense, static_cast<float*>(nullptr)));
  std::size_t bytes = SlabCarver::aligned<float>(rows) * (dense + 1);
  bytes += SlabCarver::aligned<UniqueRow>(rows) * first.repeated.size();
  if (first.origins != nullptr) bytes += SlabCarver::aligned<RowOrigin>(rows);
  if (first.weights != nullptr) bytes += SlabCarver::aligned<float>(rows);
  bytes += SlabCarver::aligned<std::int64_t>(rows) * first.extras.size();
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values == nullptr) continue;
    bytes += SlabCarver::aligned<std::int64_t>(count_ids(slices, i));
    if (!has_one_each(slices, i)) bytes += SlabCarver::aligned<std::int32_t>(rows + 1);
  }
  return bytes;
}

std::size_t scratch_bytes(Slices slices) {
  return RowGather::kScratch + RowGather::kScratchRow * rows_of(slices);
}

}  // namespace

std::size_t moved_bytes(Slices slices) { return set_bytes(slices) + scratch_bytes(slices); }

ColumnSet move_rows(Slices slices, std::span<const std::uint32_t> sources, BufferPool& pool) {
  ColumnSet moved;
  moved.rows = sources.size();
  moved.slabs.push_back(pool.take(set_bytes(slices)));
  SlabCarver carver(moved.slabs.back().data());
  const Buffer scratch = pool.take(scratch_bytes(slices));
  const RowGather gather(slices, sources, carver, scratch.data());
  const ColumnSet& first = *slices.front().columns;
  moved.labels = gather.values([](const ColumnSet& set) { return set.labels; });
  if (first.origins != nullptr) {
    moved.origins = gather.values([](const ColumnSet& set) { return set.origins; });
  }
  moved.dense.assign(first.dense.size(), nullptr);
  for (std::size_t i = 0; i < first.dense.size(); ++i) {
    if (first.dense[i] == nullptr) continue;
    moved.dense[i] = gather.values([i](const ColumnSet& set) { return set.dense[i]; });
  }
  moved.sparse.resize(first.sparse.size());
  for (std::size_t i = 0; i < first.sparse.size(); ++i) {
    if (first.sparse[i].values != nullptr) moved.sparse[i] = gather.lists(i);
  }
  for (std::size_t group = 0; group < first.repeated.size(); ++group) {
    moved.repeated.push_back(gather.repeated(group));
  }
  if (first.weights != nullptr) {
    moved.weights = gather.values([](const ColumnSet& set) { return set.weights; });
  }
  for (std::size_t i = 0; i < first.extras.size(); ++i) {
    moved.extras.push_back(gather.values([i](const ColumnSet& set) { return set.extras[i]; }));
  }
  return moved;
}

}  // namespace forebay
