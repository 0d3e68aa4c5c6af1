#pragma once

#include <cstdint>

#include "core/data/column_set.h"

namespace forebay {

/// The rows of `columns` in an order drawn by `key` (Fisher–Yates), as a set of its own: a pure
/// function of the two. Values keep their bits; a list keeps its order inside.
ColumnSet permute_rows(const ColumnSet& columns, std::uint64_t key, BufferPool& pool);

}  // namespace forebay
