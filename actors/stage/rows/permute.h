#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "actors/stage/rows/row_mover.h"
#include "core/data/column_set.h"

namespace forebay {

/// Returns the rows of `slices` as one new set, in an order drawn by `key` (Fisher–Yates): a pure
/// function of the two. Values keep their bits; a list keeps the order of its ids. The sets have
/// the same features and are not packed; there is at least one slice.
ColumnSet permute_rows(std::span<const RowSlice> slices, std::uint64_t key, BufferPool& pool);

/// The same for all rows of `columns`.
inline ColumnSet permute_rows(const ColumnSet& columns, std::uint64_t key, BufferPool& pool) {
  const RowSlice all{&columns, 0, columns.rows};
  return permute_rows({&all, 1}, key, pool);
}

/// Neighbouring sections of a set: runs of equally many rows, numbered from its first one.
struct Sections {
  std::size_t first = 0;
  std::size_t count = 0;
  std::size_t rows = 0;  ///< Of each.
};

/// Returns the rows of `slices` as one new set. They begin with the rows of `sections`, each of
/// which has an order of its own, drawn by `key` and its number; the few rows left over at the end
/// keep their order.
ColumnSet permute_sections(std::span<const RowSlice> slices, const Sections& sections,
                           std::uint64_t key, BufferPool& pool);

/// Returns the rows of `slices` as one new set, in their order.
ColumnSet join_rows(std::span<const RowSlice> slices, BufferPool& pool);

/// Returns the bytes of the set that permute_rows() makes of `slices`, and of its scratch memory.
std::size_t permuted_bytes(std::span<const RowSlice> slices);

}  // namespace forebay
