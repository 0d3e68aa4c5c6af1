#pragma once

#include <cstddef>

#include "actors/format/column_fill.h"
#include "actors/format/format.h"
#include "actors/format/npy/wanted.h"
#include "actors/format/raw_split.h"
#include "core/data/buffer_pool.h"

namespace forebay::npy {

/// Returns the shape of all columns of `rows` rows but the ids.
ColumnFill::Shape shape_of(const Wanted& wanted, std::size_t rows, bool origins);

/// Decodes loaded units: one copy of each value into the split's buffers, and none of anything
/// else. Damaged rows (a label other than 0 or 1, an invalid weight) are returned with the
/// unit's number as their group.
Decoded decode_units(const RawSplit& raw, const DecodeOptions& options, const Wanted& wanted,
                     BufferPool& pool);

}  // namespace forebay::npy
