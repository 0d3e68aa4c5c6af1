#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay::test {

/// Whether a packed feature holds the lists of a plain one.
inline bool same_ids(const SparseColumn& sent, const PackedIds& came, std::size_t rows) {
  for (std::size_t row = 0; row <= rows; ++row) {
    const auto first = sent.offsets == nullptr ? row : static_cast<std::size_t>(sent.offsets[row]);
    if (came.first_id(row) != first) return false;
  }
  std::vector<std::int64_t> ids(sent.count(rows));
  widen_ids(came.values, came.width, ids.size(), ids.data());
  return std::equal(ids.begin(), ids.end(), sent.values);
}

/// Whether packed columns hold those of `sent`, to the bit.
inline bool same_columns(const ColumnSet& sent, const ColumnSet& came) {
  const PackedColumns& packed = came.packed.value();
  if (came.rows != sent.rows || packed.dense.size() != sent.dense.size() ||
      packed.sparse.size() != sent.sparse.size() ||
      (packed.weights == nullptr) != (sent.weights == nullptr) ||
      packed.extras.size() != sent.extras.size()) {
    return false;
  }
  const auto same = [](const void* from, const void* to, std::size_t bytes) {
    return bytes == 0 || std::memcmp(from, to, bytes) == 0;
  };
  if (sent.weights != nullptr && !same(sent.weights, packed.weights, sent.rows * sizeof(float))) {
    return false;
  }
  for (std::size_t i = 0; i < sent.extras.size(); ++i) {
    if (!same(sent.extras[i], packed.extras[i], sent.rows * sizeof(std::int64_t))) return false;
  }
  for (std::size_t row = 0; row < sent.rows; ++row) {
    if (static_cast<float>(packed.labels[row]) != sent.labels[row]) return false;
  }
  for (std::size_t i = 0; i < sent.dense.size() && sent.rows > 0; ++i) {
    const std::size_t bytes = sent.rows * sizeof(float);
    if (std::memcmp(packed.dense[i], sent.dense[i], bytes) != 0) return false;
  }
  for (std::size_t i = 0; i < sent.sparse.size(); ++i) {
    if (!same_ids(sent.sparse[i], packed.sparse[i], sent.rows)) return false;
  }
  return true;
}

/// Packed columns as plain ones.
inline ColumnSet widened(const ColumnSet& came, BufferPool& pool) {
  const PackedColumns& packed = came.packed.value();
  ColumnSet plain;
  plain.rows = came.rows;
  const auto room = [&]<class T>(T, std::size_t count) {
    plain.slabs.push_back(pool.take(SlabCarver::aligned<T>(count)));
    return plain.slabs.back().as<T>();
  };
  plain.labels = room(0.0F, came.rows);
  for (std::size_t row = 0; row < came.rows; ++row) {
    plain.labels[row] = static_cast<float>(packed.labels[row]);
  }
  for (const std::byte* dense : packed.dense) {
    plain.dense.push_back(room(0.0F, came.rows));
    if (came.rows > 0) std::memcpy(plain.dense.back(), dense, came.rows * sizeof(float));
  }
  for (const PackedIds& ids : packed.sparse) {
    const std::size_t count = ids.first_id(came.rows);
    SparseColumn column{room(std::int64_t{}, count), room(std::int32_t{}, came.rows + 1)};
    widen_ids(ids.values, ids.width, count, column.values);
    for (std::size_t row = 0; row <= came.rows; ++row) {
      column.offsets[row] = static_cast<std::int32_t>(ids.first_id(row));
    }
    plain.sparse.push_back(column);
  }
  if (packed.weights != nullptr) {
    plain.weights = room(0.0F, came.rows);
    if (came.rows > 0) std::memcpy(plain.weights, packed.weights, came.rows * sizeof(float));
  }
  for (const std::byte* extra : packed.extras) {
    plain.extras.push_back(room(std::int64_t{}, came.rows));
    if (came.rows > 0) std::memcpy(plain.extras.back(), extra, came.rows * sizeof(std::int64_t));
  }
  return plain;
}

}  // namespace forebay::test
