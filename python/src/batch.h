#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <forebay/loader.h>
#include <nanobind/nanobind.h>

#include "python/src/array.h"

namespace forebay::python {

/// The columns of a loader's batches, and where to find each by its name.
class Columns {
 public:
  explicit Columns(LoaderSchema schema);

  const LoaderSchema& schema() const { return schema_; }
  /// The column's place among the sparse or the dense ones; null if there is none of this name.
  const std::size_t* sparse(const std::string& name) const { return find(sparse_, name); }
  const std::size_t* dense(const std::string& name) const { return find(dense_, name); }

 private:
  using Places = std::unordered_map<std::string, std::size_t>;
  static const std::size_t* find(const Places& places, const std::string& name);

  LoaderSchema schema_;
  Places sparse_;
  Places dense_;
};

/// A batch, whose arrays are views of its memory. Belongs to one thread at a time; the arrays may
/// be read on any.
class PythonBatch {
 public:
  PythonBatch(LoaderBatch batch, std::shared_ptr<const Columns> columns);

  std::uint64_t index() const { return batch().index(); }
  std::size_t rows() const { return batch().rows(); }
  const Columns& columns() const { return *columns_; }

  Array labels() const;
  Array dense() const;
  Array values() const;
  Array lengths() const;
  Array memory() const;
  /// Empty without weights.
  std::vector<Array> weights() const;
  Array extra(std::size_t column) const;
  Array dense_column(std::size_t column) const;
  /// The ids and the lengths of one sparse column.
  std::pair<Array, Array> sparse_column(std::size_t column) const;

  /// The different values of a column of columns.dedup, and which of them each row has.
  struct Unique {
    std::vector<Array> values;  ///< Of a sparse column its ids and lengths, else the values.
    Array inverse;
  };
  /// Empty for a column that is in no group.
  std::optional<Unique> unique_sparse(std::size_t column) const;
  std::optional<Unique> unique_dense(std::size_t column) const;

 private:
  const LoaderBatch& batch() const { return *held_; }
  Array inverse(std::size_t group) const;
  /// The columns' first ids, and the number of all ids; sums up the lengths once.
  const std::vector<std::size_t>& first_ids() const;

  std::shared_ptr<const LoaderBatch> held_;
  std::shared_ptr<const Columns> columns_;
  mutable std::vector<std::size_t> first_ids_;
};

/// Adds the class `Batch` to the module.
void bind_batch(nanobind::module_& module);

}  // namespace forebay::python
