#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/random.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay::test {

/// How wide and long random columns are.
struct AnyColumns {
  std::size_t rows = 0;
  std::size_t dense = 0;
  std::size_t sparse = 0;
  bool weights = false;
  std::size_t extras = 0;
};

inline AnyColumns any_shape(Random& random) {
  return {random.below(4) == 0 ? random.below(3) : random.below(300), random.below(5),
          random.below(6), random.below(2) == 0, random.below(3)};
}

/// Offsets of lists: all of one length (or empty), jagged, of at most one id, or, now and then,
/// with one long list.
inline void any_offsets(Random& random, std::size_t rows, std::int32_t* offsets) {
  const std::uint32_t kind = random.below(5);
  const std::uint32_t constant = random.below(5);
  offsets[0] = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    std::uint32_t length = kind == 0 ? constant : random.below(kind == 4 ? 2 : 4);
    if (kind == 2 && random.below(100) == 0) length = 300;
    if (kind == 3 && row == 0) length = 70000;
    offsets[row + 1] = offsets[row] + static_cast<std::int32_t>(length);
  }
}

/// Columns with every kind of bits: missing values, infinities, ids of all widths, negative ones.
inline ColumnSet any_columns(Random& random, const AnyColumns& shape, BufferPool& pool) {
  ColumnSet set;
  set.rows = shape.rows;
  const auto slab = [&](std::size_t bytes) {
    set.slabs.push_back(pool.take(bytes));
    return SlabCarver(set.slabs.back().data());
  };
  set.labels = slab(SlabCarver::aligned<float>(shape.rows)).take<float>(shape.rows);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    set.labels[row] = static_cast<float>(random.below(2));
  }
  for (std::size_t i = 0; i < shape.dense; ++i) {
    set.dense.push_back(slab(SlabCarver::aligned<float>(shape.rows)).take<float>(shape.rows));
    for (std::size_t row = 0; row < shape.rows; ++row) {
      const auto bits =
          random.below(10) == 0 ? kMissingBits : static_cast<std::uint32_t>(random.next());
      std::memcpy(set.dense.back() + row, &bits, sizeof(bits));
    }
  }
  for (std::size_t i = 0; i < shape.sparse; ++i) {
    SparseColumn column;
    if (random.below(2) == 0) {
      column.offsets = slab(SlabCarver::aligned<std::int32_t>(shape.rows + 1))
                           .take<std::int32_t>(shape.rows + 1);
      any_offsets(random, shape.rows, column.offsets);
    }
    const std::size_t count = column.count(shape.rows);
    column.values = slab(SlabCarver::aligned<std::int64_t>(count)).take<std::int64_t>(count);
    const std::uint32_t shift = random.below(64);
    for (std::size_t k = 0; k < count; ++k) {
      column.values[k] = static_cast<std::int64_t>(random.next() >> shift);
    }
    set.sparse.push_back(column);
  }
  if (shape.weights) {
    set.weights = slab(SlabCarver::aligned<float>(shape.rows)).take<float>(shape.rows);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      set.weights[row] = static_cast<float>(random.below(1000)) * 0.37F;
    }
  }
  for (std::size_t i = 0; i < shape.extras; ++i) {
    auto* values =
        slab(SlabCarver::aligned<std::int64_t>(shape.rows)).take<std::int64_t>(shape.rows);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      values[row] = std::bit_cast<std::int64_t>(random.next());
    }
    set.extras.push_back(values);
  }
  return set;
}

}  // namespace forebay::test
