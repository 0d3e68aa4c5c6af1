#pragma once

#include <bit>
#include <cstring>
#include <string>
#include <vector>

#include "core/base/random.h"
#include "core/data/batch.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay::test {

/// Rows with one dense value and two sparse features (the second jagged), identified by `first`:
/// row i has dense first + i, ids {first + i} and (first + i) % 3 times its number.
inline ColumnSet numbered_rows(std::size_t first, std::size_t rows, BufferPool& pool) {
  ColumnSet set;
  set.rows = rows;
  set.slabs.push_back(pool.take(
      SlabCarver::aligned<float>(rows) * 2 + SlabCarver::aligned<std::int64_t>(rows) +
      SlabCarver::aligned<std::int64_t>(rows * 2) + SlabCarver::aligned<std::int32_t>(rows + 1)));
  SlabCarver carver(set.slabs.back().data());
  set.labels = carver.take<float>(rows);
  set.dense.push_back(carver.take<float>(rows));
  set.sparse.push_back({carver.take<std::int64_t>(rows), nullptr});
  set.sparse.push_back({carver.take<std::int64_t>(rows * 2), carver.take<std::int32_t>(rows + 1)});
  SparseColumn& jagged = set.sparse[1];
  std::int32_t filled = 0;
  jagged.offsets[0] = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    const std::size_t number = first + i;
    set.labels[i] = static_cast<float>(number % 2);
    set.dense[0][i] = static_cast<float>(number);
    set.sparse[0].values[i] = static_cast<std::int64_t>(number);
    for (std::size_t k = 0; k < number % 3; ++k)
      jagged.values[filled++] = static_cast<std::int64_t>(number);
    jagged.offsets[i + 1] = filled;
  }
  return set;
}

/// Gives numbered_rows from `first` on weights (a quarter of the row's number) and two extra
/// columns (its number, and the bits of its number as a double).
inline ColumnSet with_rest(ColumnSet set, std::size_t first, BufferPool& pool) {
  const std::size_t entry = SlabCarver::aligned<std::int64_t>(set.rows);
  set.slabs.push_back(pool.take(3 * entry));
  SlabCarver carver(set.slabs.back().data());
  set.weights = carver.take<float>(set.rows);
  set.extras = {carver.take<std::int64_t>(set.rows), carver.take<std::int64_t>(set.rows)};
  for (std::size_t i = 0; i < set.rows; ++i) {
    set.weights[i] = static_cast<float>(first + i) / 4;
    set.extras[0][i] = static_cast<std::int64_t>(first + i);
    set.extras[1][i] = std::bit_cast<std::int64_t>(static_cast<double>(first + i));
  }
  return set;
}

/// The rows of a batch made of numbered_rows, as text: one "label dense id [ids]" a row, then
/// "weight | extra …" where there are any.
inline std::vector<std::string> rows_of(const Batch& batch) {
  std::vector<std::string> rows;
  std::vector<std::size_t> at(batch.sparse_features, 0);
  std::size_t begin = 0;
  for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
    at[feature] = begin;
    for (std::size_t row = 0; row < batch.rows; ++row) {
      begin += static_cast<std::size_t>(batch.lengths[feature * batch.rows + row]);
    }
  }
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::string text = std::to_string(batch.labels[row]);
    for (std::size_t d = 0; d < batch.dense_features; ++d) {
      text += ' ' + std::to_string(batch.dense[row * batch.dense_features + d]);
    }
    for (std::size_t feature = 0; feature < batch.sparse_features; ++feature) {
      text += " [";
      for (std::int32_t k = 0; k < batch.lengths[feature * batch.rows + row]; ++k) {
        text += std::to_string(batch.ids[at[feature]++]) + ',';
      }
      text += ']';
    }
    if (batch.weights != nullptr) text += ' ' + std::to_string(batch.weights[row]);
    for (std::size_t extra = 0; extra < batch.extra_columns; ++extra) {
      text += " | " + std::to_string(batch.extras[extra * batch.rows + row]);
    }
    rows.push_back(std::move(text));
  }
  return rows;
}

}  // namespace forebay::test
