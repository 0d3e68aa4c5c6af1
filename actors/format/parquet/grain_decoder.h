#pragma once

#include "actors/format/format.h"
#include "actors/format/parquet/wanted_columns.h"
#include "actors/format/raw_split.h"
#include "core/base/cpu_level.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// Decodes loaded grains (GrainHead and pages) to the columns of `wanted`: Format::decode() of
/// Parquet, with the instructions of `level`. Any thread may call it.
Decoded decode_grains(const WantedColumns& wanted, CpuLevel level, const RawSplit& raw,
                      const DecodeOptions& options, BufferPool& pool);

}  // namespace forebay::parquet
