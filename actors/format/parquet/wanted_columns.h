#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/format/parquet/leaf.h"
#include "actors/pipeline_spec.h"
#include "core/base/result.h"
#include "core/data/schema.h"

namespace forebay::parquet {

/// What a job makes of a leaf.
enum class Use : std::uint8_t {
  kDense,
  kSparse,
  kNumber,   ///< The label, or an extra column of floats: a double a row.
  kInteger,  ///< Another extra column: an int64 a row.
};

/// A leaf that the job reads. Files of one dataset may store it in other ways of the same kind, for
/// instance with 32 bits and with 64.
struct WantedLeaf {
  std::string name;
  Use use = Use::kDense;
  std::string kind;             ///< Such as "number" or "list of text"; equal in all files.
  std::uint32_t list_size = 0;  ///< Leaf::list_size of a dense leaf; 0: one value a row.
};

/// The columns of a job over Parquet files. A value.
struct WantedColumns {
  /// A column of numbers: a leaf, or an item of each of its lists.
  struct Dense {
    std::size_t leaf = 0;  ///< Index into `leaves`.
    std::uint32_t item = 0;
  };

  Schema schema;  ///< Names in the order of the members below; an item is named `list.3`.
  std::vector<WantedLeaf> leaves;         ///< All that is read, the label's first.
  std::optional<double> label_threshold;  ///< ColumnSpec::label_threshold.
  std::vector<Dense> dense;
  // Indices into `leaves`, of which the label is the first.
  std::vector<std::size_t> sparse;
  std::optional<std::size_t> weight;
  std::vector<std::size_t> extra;
};

/// Resolves `[columns]` against the leaves of the dataset's first file. kInvalid, naming the key
/// and the column, like choose_columns() and for a column whose type the use cannot take.
Result<WantedColumns> want_columns(const ColumnSpec& spec, const std::vector<Leaf>& leaves);

/// Whether the kind of a wanted leaf is not known, since its values are of type null.
bool lacks_kinds(const WantedColumns& wanted);

/// Puts leaves of `others`, a later file, in the place of those of the same name whose values are
/// of type null. Returns whether there is one.
bool take_kinds(std::vector<Leaf>& leaves, const std::vector<Leaf>& others);

/// Returns where the wanted leaves are among those of a file. kInvalid, naming the column, if one
/// is missing, is there twice or is of another kind. Values of type null are of every kind, but not
/// a list of fixed size.
Result<std::vector<std::size_t>> locate_columns(const WantedColumns& wanted,
                                                const std::vector<Leaf>& leaves);

}  // namespace forebay::parquet
