#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "actors/dataset_spec.h"
#include "core/base/result.h"
#include "core/data/schema.h"

namespace forebay {

/// Which columns of a file become the label and the features: indices into the file's columns.
struct ColumnChoice {
  std::size_t label = 0;
  std::vector<std::size_t> dense;
  std::vector<std::size_t> sparse;
  Schema schema;  ///< Names in the same order; ids are unbounded.
};

/// Resolves `[columns]` against the names of a file's columns. A pattern that is a column's whole
/// name means that column, any other is a glob and expands in file order. Pure.
///
/// kInvalid, naming the key and the column, for a label that is missing, a pattern that matches
/// nothing (with the nearest name), a column used twice, a wanted name that two columns have.
Result<ColumnChoice> choose_columns(const ColumnSpec& spec, const std::vector<std::string>& names);

/// The entry of `names` that `name` was probably meant to be; nothing when none is near.
std::optional<std::string> nearest_name(const std::string& name,
                                        const std::vector<std::string>& names);

}  // namespace forebay
