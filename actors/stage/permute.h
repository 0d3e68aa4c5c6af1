#pragma once

#include <cstdint>

#include "core/data/column_set.h"

namespace forebay {

/// Returns the rows of `columns` in an order drawn by `key` (Fisher–Yates), as a new set: a pure
/// function of the two. Values keep their bits; a list keeps the order of its ids.
ColumnSet permute_rows(const ColumnSet& columns, std::uint64_t key, BufferPool& pool);

}  // namespace forebay
