#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "core/data/schema.h"

namespace forebay {

/// Which columns of a file become the label, the features, the weight and the extra columns:
/// indices into the file's columns.
struct ColumnChoice {
  std::size_t label = 0;
  std::vector<std::size_t> dense;
  std::vector<std::size_t> sparse;
  std::optional<double> label_threshold;  ///< ColumnSpec::label_threshold.
  std::optional<std::size_t> weight;
  std::vector<std::size_t> extra;
  /// Names in the same order; ids are unbounded, extra columns int64. A format with columns of
  /// floats sets the kind of those.
  Schema schema;
};

/// Resolves `[columns]` against the names of a file's columns. A pattern that equals a column's
/// whole name selects that column; any other pattern is a glob and expands in file order. Pure.
///
/// Returns kInvalid, naming the key and the column, if the label is missing, a pattern matches
/// nothing (the message gives the nearest name), a column is used twice, or two columns share a
/// wanted name.
Result<ColumnChoice> choose_columns(const ColumnSpec& spec, const std::vector<std::string>& names);

/// Resolves `columns.dedup` against the features of `schema`, by the same rule, into
/// Schema::repeated. choose_columns() does so itself; for a format whose features are not the
/// chosen columns one by one. Returns kInvalid for a pattern that matches no feature and for a
/// feature in two groups.
Status group_features(const ColumnSpec& spec, Schema& schema);

}  // namespace forebay
