#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

/// Copies rows of sets of repeated columns to a set of their own: a part of repeated_columns.cpp.
namespace forebay::copying {

/// The ids of a row.
inline std::span<const std::int64_t> ids_of(const SparseColumn& column, std::size_t row) {
  const std::size_t first = column.first_id(row);
  return {column.values + first, column.first_id(row + 1) - first};
}

/// A row of a set, to be copied.
struct Source {
  const ColumnSet* set = nullptr;
  std::size_t row = 0;
};

/// Copies column `column` of each source row.
template <class SourceOf>
void copy_dense(std::size_t rows, std::size_t column, const SourceOf& source_of, float* to) {
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    to[row] = source.set->dense[column][source.row];
  }
}

/// The ids of all source rows.
template <class SourceOf>
std::size_t ids_in(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  std::size_t ids = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    ids += ids_of(source.set->sparse[column], source.row).size();
  }
  return ids;
}

/// `to` has offsets, unless every list has one id.
template <class SourceOf>
void copy_sparse(std::size_t rows, std::size_t column, const SourceOf& source_of,
                 const SparseColumn& to) {
  if (to.offsets != nullptr) to.offsets[0] = 0;
  std::int64_t* end = to.values;
  for (std::size_t row = 0; row < rows; ++row) {
    const Source source = source_of(row);
    const auto ids = ids_of(source.set->sparse[column], source.row);
    if (!ids.empty()) std::memcpy(end, ids.data(), ids.size_bytes());
    end += ids.size();
    if (to.offsets != nullptr) to.offsets[row + 1] = static_cast<std::int32_t>(end - to.values);
  }
}

/// Whether no set that the rows are in has offsets for the column.
template <class SourceOf>
bool has_one_each(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  const ColumnSet* last = nullptr;
  for (std::size_t row = 0; row < rows; ++row) {
    const ColumnSet* set = source_of(row).set;
    if (set == std::exchange(last, set)) continue;
    if (set->sparse[column].offsets != nullptr) return false;
  }
  return true;
}

/// The memory that a copied list column takes.
struct ListShape {
  std::size_t rows = 0;
  std::size_t ids = 0;
  bool is_list = false;  // has offsets

  std::size_t bytes() const {
    return SlabCarver::aligned<std::int64_t>(ids) +
           (is_list ? SlabCarver::aligned<std::int32_t>(rows + 1) : 0);
  }
  SparseColumn carve(SlabCarver& carver) const {
    SparseColumn column;
    column.values = carver.take<std::int64_t>(ids);
    if (is_list) column.offsets = carver.take<std::int32_t>(rows + 1);
    return column;
  }
};

template <class SourceOf>
ListShape shape_of(std::size_t rows, std::size_t column, const SourceOf& source_of) {
  return {.rows = rows,
          .ids = ids_in(rows, column, source_of),
          .is_list = !has_one_each(rows, column, source_of)};
}

/// How many columns of each kind a copied set has.
struct Width {
  std::size_t dense = 0;
  std::size_t sparse = 0;

  static Width of(const FeatureGroup& group) { return {group.dense.size(), group.sparse.size()}; }
};

/// Copies the first columns of each source row into one slab. `source_of(column, row)` counts the
/// dense columns first.
template <class SourceOf>
ColumnSet copied_set(std::size_t rows, const Width& width, const SourceOf& source_of,
                     BufferPool& pool) {
  const auto sources = [&](std::size_t column) {
    return [&source_of, column](std::size_t row) { return source_of(column, row); };
  };
  ColumnSet set;
  set.rows = rows;
  std::vector<ListShape> shapes;
  std::size_t bytes = width.dense * SlabCarver::aligned<float>(rows);
  for (std::size_t i = 0; i < width.sparse; ++i) {
    shapes.push_back(shape_of(rows, i, sources(width.dense + i)));
    bytes += shapes.back().bytes();
  }
  set.slabs.push_back(pool.take(bytes));
  SlabCarver carver(set.slabs.back().data());
  for (std::size_t i = 0; i < width.dense; ++i) {
    set.dense.push_back(carver.take<float>(rows));
    copy_dense(rows, i, sources(i), set.dense.back());
  }
  for (std::size_t i = 0; i < width.sparse; ++i) {
    set.sparse.push_back(shapes[i].carve(carver));
    copy_sparse(rows, i, sources(width.dense + i), set.sparse.back());
  }
  return set;
}

}  // namespace forebay::copying
