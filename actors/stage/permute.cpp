#include "actors/stage/permute.h"

#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/random.h"
#include "core/data/buffer_pool.h"

namespace forebay {
namespace {

using Sources = std::span<const std::uint32_t>;  // Sources[i]: the row that moves to place i.

std::size_t slab_bytes(const ColumnSet& columns) {
  std::size_t bytes = SlabCarver::aligned<float>(columns.rows) * (columns.dense.size() + 1);
  if (columns.origins != nullptr) bytes += SlabCarver::aligned<RowOrigin>(columns.rows);
  for (const SparseColumn& column : columns.sparse) {
    bytes += SlabCarver::aligned<std::int64_t>(column.count(columns.rows));
    if (column.offsets != nullptr) bytes += SlabCarver::aligned<std::int32_t>(columns.rows + 1);
  }
  return bytes;
}

template <class T>
T* gather(const T* from, Sources sources, SlabCarver& carver) {
  T* to = carver.take<T>(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) to[i] = from[sources[i]];
  return to;
}

/// Whether every list has at most one id. This is the usual case; such lists are moved without a
/// branch on their length.
bool at_most_one(const SparseColumn& column, std::size_t rows) {
  std::int32_t longest = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::int32_t length = column.offsets[i + 1] - column.offsets[i];
    longest = length > longest ? length : longest;
  }
  return longest <= 1;
}

void gather_short(const SparseColumn& from, Sources sources, SparseColumn& to) {
  std::int32_t filled = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::uint32_t source = sources[i];
    const std::int32_t begin = from.offsets[source];
    to.values[filled] = from.values[begin];
    filled += from.offsets[source + 1] - begin;
    to.offsets[i + 1] = filled;
  }
}

void gather_lists(const SparseColumn& from, Sources sources, SparseColumn& to) {
  std::int32_t filled = 0;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const std::int32_t begin = from.offsets[sources[i]];
    const std::int32_t length = from.offsets[sources[i] + 1] - begin;
    std::memcpy(to.values + filled, from.values + begin,
                static_cast<std::size_t>(length) * sizeof(std::int64_t));
    filled += length;
    to.offsets[i + 1] = filled;
  }
}

SparseColumn gather(const SparseColumn& from, Sources sources, SlabCarver& carver) {
  if (from.offsets == nullptr) return {gather(from.values, sources, carver), nullptr};
  SparseColumn to;
  to.values = carver.take<std::int64_t>(from.count(sources.size()));
  to.offsets = carver.take<std::int32_t>(sources.size() + 1);
  to.offsets[0] = 0;
  const auto move = at_most_one(from, sources.size()) ? gather_short : gather_lists;
  move(from, sources, to);
  return to;
}

void draw(std::span<std::uint32_t> sources, std::uint64_t key) {
  std::iota(sources.begin(), sources.end(), 0U);
  Random random(key);
  for (std::size_t left = sources.size(); left > 1; --left) {
    std::swap(sources[left - 1], sources[random.below(left)]);
  }
}

}  // namespace

ColumnSet permute_rows(const ColumnSet& columns, std::uint64_t key, BufferPool& pool) {
  const Buffer order = pool.take(columns.rows * sizeof(std::uint32_t));
  const std::span<std::uint32_t> sources(order.as<std::uint32_t>(), columns.rows);
  draw(sources, key);

  ColumnSet permuted;
  permuted.rows = columns.rows;
  permuted.slabs.push_back(pool.take(slab_bytes(columns)));
  SlabCarver carver(permuted.slabs.back().data());
  permuted.labels = gather(columns.labels, sources, carver);
  if (columns.origins != nullptr) permuted.origins = gather(columns.origins, sources, carver);
  for (const float* column : columns.dense) {
    permuted.dense.push_back(gather(column, sources, carver));
  }
  for (const SparseColumn& column : columns.sparse) {
    permuted.sparse.push_back(gather(column, sources, carver));
  }
  return permuted;
}

}  // namespace forebay
