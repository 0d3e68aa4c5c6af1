#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "actors/transform/op_request.h"
#include "core/data/schema.h"

namespace forebay {

enum class ColumnKind : std::uint8_t { kDense, kSparse };

struct ColumnRef {
  ColumnKind kind = ColumnKind::kDense;
  std::size_t index = 0;  ///< In the schema's list of its kind.
};

/// The target of an operator's result: in place of its source, or an additional column at the end
/// of the list of its kind; then `drop_source` says whether the source is removed from its list.
struct ColumnTarget {
  std::size_t from = 0;
  std::size_t to = 0;
  bool drop_source = false;
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
  std::vector<ColumnRef> any();
  std::vector<std::size_t> dense();
  std::vector<std::size_t> sparse();
  /// Exactly two sparse columns; both may be the same column. Empty after an error.
  std::vector<std::size_t> sparse_pair();
  /// The index of the sparse column `name`; an error names the parameter `key`.
  std::size_t sparse_named(const std::string& key, const std::string& name);

  /// The targets of results over these sources, by the naming rule.
  std::vector<ColumnTarget> dense_to_dense(const std::vector<std::size_t>& sources);
  std::vector<ColumnTarget> dense_to_sparse(const std::vector<std::size_t>& sources,
                                            std::int64_t bound);
  std::vector<ColumnTarget> sparse_to_sparse(const std::vector<std::size_t>& sources);
  std::vector<ColumnTarget> sparse_to_dense(const std::vector<std::size_t>& sources);

  /// Adds a column at the end of its list.
  std::size_t add_dense(const std::string& name);
  std::size_t add_sparse(const SparseFeature& feature);
  /// Removes the source columns whose targets say so; call it after the targets were made.
  void drop_sources(ColumnKind kind, const std::vector<ColumnTarget>& targets);

  /// The `output` pattern applied to a source; `otherwise` if no pattern is given.
  std::string output_name(const std::string& source, const std::string& otherwise);
  bool has_output() const { return request_.spec().params.contains("output"); }

  Schema& schema() { return schema_; }

 private:
  void match(const std::string& pattern, const std::vector<ColumnKind>& kinds,
             std::vector<ColumnRef>& found);
  std::vector<std::size_t> of_kind(ColumnKind kind);
  void check_pattern(std::size_t num_sources);
  void check_free(const std::string& name);
  const std::string& name_of(ColumnRef column) const;
  std::vector<std::string> names() const;

  OpRequest& request_;
  Schema& schema_;
};

}  // namespace forebay
