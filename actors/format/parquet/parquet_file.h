#pragma once

#include <memory>

#include "actors/format/format.h"
#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/wanted_columns.h"
#include "core/base/result.h"

namespace forebay::parquet {

/// Cuts a file into grains: reads the offset indexes of the row groups that are large enough to be
/// cut, of the wanted columns only. kInvalid for a file without a wanted column, kCorrupt for
/// damaged metadata, kUnavailable as InputFile::read(); messages begin with the path.
Result<std::unique_ptr<UnitFile>> open_parquet_file(const InputFile& file, Footer footer,
                                                    const WantedColumns& wanted);

}  // namespace forebay::parquet
