#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// Consecutive rows of a column set.
struct RowSlice {
  const ColumnSet* columns = nullptr;
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t rows() const { return end - begin; }
};

/// The number of rows of all slices.
std::size_t rows_of(std::span<const RowSlice> slices);

/// The number of ids of a sparse feature in all slices.
std::size_t ids_of(std::span<const RowSlice> slices, std::size_t feature);

/// Whether each row of every slice has exactly one id of the feature.
bool has_one_each(std::span<const RowSlice> slices, std::size_t feature);

/// Whether each of `rows` lists has at most one id. This is the usual case; such lists are moved
/// without a branch on their length.
bool at_most_one(const std::int32_t* offsets, std::size_t rows);

/// Returns the rows of `slices` as one new set: row i of all slices becomes row places[i], and
/// `places` has each number below rows_of(slices) once. Values keep their bits; a list keeps the
/// order of its ids. The sets have the same features and are not packed; there is at least one
/// slice. Reads each slice from its start to its end.
ColumnSet move_rows(std::span<const RowSlice> slices, std::span<const std::uint32_t> places,
                    BufferPool& pool);

/// The same of one slice, and the other way round: row sources[i] of the slice becomes row i. Takes
/// half the time where the columns of the slice fit into a cache.
ColumnSet gather_rows(const RowSlice& slice, std::span<const std::uint32_t> sources,
                      BufferPool& pool);

/// The bytes that move_rows() and gather_rows() take for so many rows.
std::size_t moved_bytes(std::span<const RowSlice> slices, std::size_t rows);

}  // namespace forebay
