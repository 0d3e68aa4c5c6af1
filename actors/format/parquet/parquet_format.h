#pragma once

#include <memory>

#include "actors/format/format.h"
#include "actors/format/next_file.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay {

/// Opens the format of Apache Parquet files: OpenUnitFormat of `dataset.format = "parquet"`. A unit
/// is a grain: the rows of a row group, or of some of its pages (parquet/grain_cut.h). `next` gives
/// the kinds of the columns that are of type null in the first file.
Result<std::unique_ptr<UnitFormat>> open_parquet(const DatasetSpec& dataset,
                                                 const ColumnSpec& columns, const InputFile& first,
                                                 const NextFile& next);

}  // namespace forebay
