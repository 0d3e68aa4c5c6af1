#pragma once

#include "actors/format/column_choice.h"
#include "actors/format/column_fill.h"
#include "actors/format/criteo/criteo_kernel.h"
#include "actors/format/format.h"

namespace forebay {

/// Parses a split of Criteo rows into `fill`, which is empty afterwards; see Format::decode. Gives
/// groups of rows to the kernel and decodes the rows that the kernel refuses one by one. Pure; any
/// thread.
Decoded decode_criteo(const RawSplit& raw, const DecodeOptions& options, const ColumnChoice& choice,
                      const CriteoKernel& kernel, ColumnFill& fill);

}  // namespace forebay
