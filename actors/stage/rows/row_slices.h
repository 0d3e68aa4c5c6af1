#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/data/column_set.h"

namespace forebay {

/// Consecutive rows of a column set.
struct RowSlice {
  const ColumnSet* columns = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t rows() const { return end - begin; }

  /// The ids of a sparse feature.
  std::span<const std::int64_t> ids_of(std::size_t feature) const {
    const SparseColumn& column = columns->sparse[feature];
    const std::size_t first = column.first_id(begin);
    return {column.values + first, column.first_id(end) - first};
  }
};

/// The number of rows of all slices.
std::size_t rows_of(std::span<const RowSlice> slices);

/// The number of ids of a sparse feature in all slices.
std::size_t count_ids(std::span<const RowSlice> slices, std::size_t feature);

/// Whether each row of every slice has exactly one id of the feature, and no offsets.
bool has_one_each(std::span<const RowSlice> slices, std::size_t feature);

/// Whether each row has at most one id of the feature.
bool has_short_lists(std::span<const RowSlice> slices, std::size_t feature);

}  // namespace forebay
