#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/column_choice.h"
#include "actors/format/npy/trio.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"

namespace forebay::npy {

/// The columns that a job reads of every trio of a dataset.
struct Wanted {
  ColumnChoice choice;  ///< With the kinds of the extra columns.
  /// In the order of a unit's head: label, dense, sparse, weight, extra. Numbers in Trio::names().
  std::vector<std::size_t> columns;
  std::vector<std::string> names;  ///< Of `columns`.
  std::uint32_t dense = 0;         ///< Number of columns I1… of the first trio.
  std::uint32_t sparse = 0;        ///< Number of columns C1… of it.

  std::size_t first_sparse() const { return 1 + choice.dense.size(); }
  std::size_t weight() const { return first_sparse() + choice.sparse.size(); }
  std::size_t first_extra() const { return weight() + (choice.weight ? 1 : 0); }
};

/// Resolves `[columns]` against the dataset's first trio. kInvalid, naming key and column, like
/// choose_columns(), and for a column that is not of the kind that its use needs.
Result<Wanted> choose_wanted(const ColumnSpec& spec, const Trio& first);

/// Returns the wanted columns of a trio, in the order of Wanted::columns. kInvalid, beginning with
/// the path, when it has other columns than the first trio, or one of them with another type.
Result<std::vector<TrioColumn>> find_wanted(const Wanted& wanted, const Trio& trio);

}  // namespace forebay::npy
