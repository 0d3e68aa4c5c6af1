#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "actors/source/dataset.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"
#include "tools/doctor/checks.h"

namespace forebay {

/// Columns that `columns.dedup` would store once.
struct SuggestedGroup {
  FeatureGroup features;
  std::size_t rows = 0;
  std::size_t unique = 0;  ///< Rows that differ from the one before them.
  double share = 0;        ///< Of the bytes of all features.

  double ratio() const { return static_cast<double>(rows) / static_cast<double>(unique); }
};

/// Finds columns whose values repeat together over neighbouring rows, at least twice on average and
/// with at least a tenth of the bytes. `columns` has all features in place, in file order. Pure.
std::vector<SuggestedGroup> suggest_groups(const ColumnSet& columns);

/// Looks at the first rows of a dataset, at most some MiB: proposes groups for `columns.dedup`, or
/// says how much the groups of the job repeat. Nothing if no column repeats, or a block is larger.
std::optional<Finding> check_repeats(const Dataset& dataset);

}  // namespace forebay
