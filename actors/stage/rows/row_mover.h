#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "actors/stage/rows/row_slices.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// Returns rows of `slices` as one new set: row i of the set is row sources[i] of all slices, which
/// are counted through; `sources` has each number below rows_of(slices) once. Values keep their
/// bits; a list keeps the order of its ids. The sets have the same features and are not packed;
/// there is at least one slice.
ColumnSet move_rows(std::span<const RowSlice> slices, std::span<const std::uint32_t> sources,
                    BufferPool& pool);

/// The bytes that move_rows() takes: of the new set, and of scratch memory.
std::size_t moved_bytes(std::span<const RowSlice> slices);

}  // namespace forebay
