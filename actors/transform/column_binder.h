#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "actors/transform/op_request.h"
#include "core/data/schema.h"

namespace forebay {

enum class ColumnKind : std::uint8_t { kDense, kSparse };

struct ColumnRef {
  ColumnKind kind = ColumnKind::kDense;
  std::size_t index = 0;  ///< In the schema's list of its kind.

  bool operator==(const ColumnRef&) const = default;
};

/// The target of an operator's result: in place of its source, or an additional column at the end
/// of the list of its kind; then `drop_source` says whether the source is removed from its list.
struct ColumnTarget {
  std::size_t from = 0;
  std::size_t to = 0;
  bool drop_source = false;
};

/// The targets of the results over columns of both kinds.
struct Targets {
  std::vector<ColumnTarget> dense;
  std::vector<ColumnTarget> sparse;
};

/// Indices of the dropped sources in descending order, so that erasing one moves no source still to
/// be erased.
std::vector<std::size_t> dropped_sources(std::span<const ColumnTarget> targets);

/// Removes the dropped sources from the list of their kind.
template <class Column>
void drop_sources(std::vector<Column>& columns, std::span<const ColumnTarget> targets) {
  for (const std::size_t index : dropped_sources(targets)) {
    columns.erase(columns.begin() + static_cast<std::ptrdiff_t>(index));
  }
}

/// The ids a sparse column may hold, both ends included.
struct IdRange {
  std::int64_t low = std::numeric_limits<std::int64_t>::min();
  std::int64_t high = std::numeric_limits<std::int64_t>::max();

  static IdRange of(const SparseFeature& feature) {
    if (feature.bound <= 0) return {};
    return {0, feature.bound - 1};
  }

  /// SparseFeature::bound of ids in this range: 0 if an id is negative or the end has no successor.
  std::int64_t bound() const {
    return low >= 0 && high < std::numeric_limits<std::int64_t>::max() ? high + 1 : 0;
  }
};

/// Finds an operator's columns in the schema and names its results.
///
/// The naming rule of every operator with an `output`: without `output` the result replaces the
/// (first) source column under its name: in place, or, when dense becomes sparse or the reverse, at
/// the end of the other list. With `output` the source stays and the result is an additional column
/// at the end; `{}` in it stands for the source's name, and is required if there are several
/// sources.
class ColumnBinder {
 public:
  /// Changes `schema` as the operator will change the columns.
  ColumnBinder(OpRequest& request, Schema& schema) : request_(request), schema_(schema) {}

  /// The columns that the patterns of `columns` match, in the patterns' order, each column once. A
  /// pattern skips columns of another kind, unless it matches no column of the right kind.
  std::vector<ColumnRef> any() { return of({ColumnKind::kDense, ColumnKind::kSparse}); }
  std::vector<std::size_t> dense() { return of_kind(ColumnKind::kDense); }
  std::vector<std::size_t> sparse() { return of_kind(ColumnKind::kSparse); }
  /// Exactly two sparse columns; both may be the same column. Empty after an error.
  std::vector<std::size_t> sparse_pair();
  /// The index of the sparse column `name`; an error names the parameter `key`.
  std::size_t sparse_named(const std::string& key, const std::string& name);

  /// The targets, of kind `to`, of results over sources of kind `from`, by the naming rule. `bound`
  /// is that of the ids made of dense values; ids made of ids keep their source's.
  std::vector<ColumnTarget> results(ColumnKind from, const std::vector<std::size_t>& sources,
                                    ColumnKind to, std::int64_t bound = 0);
  /// The targets of results of the same kind as their sources, by the naming rule.
  Targets same_kind(const std::vector<std::size_t>& dense, const std::vector<std::size_t>& sparse);

  /// Adds a column, whose name must be new, at the end of the list of its kind.
  std::size_t add(ColumnKind kind, const SparseFeature& column);

  /// The `output` pattern applied to a source; `otherwise` if no pattern is given.
  std::string output_name(const std::string& source, const std::string& otherwise);
  bool has_output() const { return request_.has("output"); }

  Schema& schema() { return schema_; }
  const std::string& name_of(ColumnRef column) const;

 private:
  std::vector<ColumnRef> of(const std::vector<ColumnKind>& kinds);
  std::vector<std::size_t> of_kind(ColumnKind kind);
  void match(const std::string& pattern, const std::vector<ColumnKind>& kinds,
             std::vector<ColumnRef>& found);
  std::size_t append(ColumnKind kind, const SparseFeature& column);
  void check_pattern(std::size_t num_sources);
  std::vector<std::string> names() const;

  OpRequest& request_;
  Schema& schema_;
};

}  // namespace forebay
