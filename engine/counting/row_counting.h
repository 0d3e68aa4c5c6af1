#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "actors/format/format.h"
#include "actors/pipeline_spec.h"
#include "actors/source/dataset.h"
#include "actors/source/row_counts.h"
#include "actors/transform/transform.h"
#include "core/base/result.h"

namespace forebay {

/// What decides which rows of a dataset remain. All references outlive the call.
struct RowCounting {
  const Dataset& dataset;
  const TransformPlan& plan;
  const DatasetSpec& files;
  const ColumnSpec& columns;
  RowFilter filter;
  std::uint64_t seed = 0;         ///< `order.seed`
  const DatasetOptions& options;  ///< How `dataset` was opened.
  std::string identity;           ///< Of all keys that decide it, beside the dataset's content.
};

/// Counts the rows of each block that are neither damaged nor held out nor sampled away.
///
/// Reads nothing where no row can be left out, and for formats with units no more than the label
/// and the weight, since no other column makes a row damaged there. Announces the bytes that it
/// reads, reads them once, by as many threads as the dataset was opened with, and keeps the result
/// in `run_dir/index`; a result in the index folder of another run serves as well. kUnavailable
/// "stopped" as open_dataset(); kCorrupt for damaged files.
Result<RowCounts> count_rows(const RowCounting& job);

}  // namespace forebay
