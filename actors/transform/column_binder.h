#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_set>
#include <vector>

#include "actors/transform/op_request.h"
#include "actors/transform/order/step_facts.h"
#include "core/data/schema.h"

namespace forebay {

/// The target of an operator's result, by slots: in place of its source, or an additional column;
/// then `drop_source` says whether the source is dropped.
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

/// The columns of a job's whole operator list, each in a slot of its own: the decoded ones first,
/// then every column that an operator makes, in the order of the list as written.
///
/// A column that an operator drops keeps its slot, so no operator changes the slots of another, and
/// operators may run in another order than they are written in.
class ColumnSlots {
 public:
  explicit ColumnSlots(const Schema& decoded);

  /// All columns by slot, dropped ones included.
  Schema& columns() { return columns_; }
  const Schema& columns() const { return columns_; }

  bool is_live(ColumnRef column) const { return live(column.kind)[column.index]; }
  /// Whether a column that is not dropped has this name.
  bool has(const std::string& name) const { return live_names_.contains(name); }
  std::size_t add(ColumnKind kind, const SparseFeature& column);
  void drop(ColumnRef column);
  const std::string& name_of(ColumnRef column) const;

  /// The slots of a kind that are not dropped, in the order of the columns.
  std::vector<std::size_t> live_slots(ColumnKind kind) const;
  /// The schema of the columns that are not dropped.
  Schema live_schema() const;

 private:
  std::vector<bool>& live(ColumnKind kind) { return kind == ColumnKind::kDense ? dense_ : sparse_; }
  const std::vector<bool>& live(ColumnKind kind) const {
    return kind == ColumnKind::kDense ? dense_ : sparse_;
  }

  Schema columns_;
  std::vector<bool> dense_;  // whether the slot's column is there
  std::vector<bool> sparse_;
  std::unordered_multiset<std::string> live_names_;
};

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
  /// Changes `slots` as the operator will change the columns.
  ColumnBinder(OpRequest& request, ColumnSlots& slots)
      : request_(request), slots_(slots), schema_(slots.columns()) {}

  /// The columns that the patterns of `columns` match, in the patterns' order, each column once. A
  /// pattern that is a column's whole name matches that column alone. A pattern skips columns of
  /// another kind, unless it matches no column of the right kind.
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
  void drop(ColumnRef column) { slots_.drop(column); }

  /// Refuses an `output` that cannot name the results of so many sources; results() does so, too.
  void check_output(std::size_t num_sources);
  /// The `output` pattern applied to a source; `otherwise` if no pattern is given.
  std::string output_name(const std::string& source, const std::string& otherwise);
  bool has_output() const { return request_.has("output"); }

  /// The columns by slot.
  Schema& schema() { return schema_; }
  const std::string& name_of(ColumnRef column) const { return slots_.name_of(column); }

 private:
  std::vector<ColumnRef> of(const std::vector<ColumnKind>& kinds);
  std::vector<std::size_t> of_kind(ColumnKind kind);
  void match(const std::string& pattern, const std::vector<ColumnKind>& kinds,
             std::vector<ColumnRef>& found);
  std::vector<std::string> names() const;

  OpRequest& request_;
  ColumnSlots& slots_;
  Schema& schema_;
};

}  // namespace forebay
