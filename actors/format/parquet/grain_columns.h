#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "actors/format/column_fill.h"
#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/loaded_grain.h"
#include "actors/format/parquet/repeated_group.h"
#include "actors/format/parquet/wanted_columns.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/places_in_groups.h"

namespace forebay::parquet {

/// A sparse column of the result.
struct IdColumn {
  std::size_t leaf = 0;
  bool is_list = false;
  IdSink ids = {};  ///< Of a column in a group only `room` is used.
  std::optional<PlaceInGroup> repeated = std::nullopt;
};

/// A dense column of the result.
struct DenseColumn {
  std::size_t place = 0;  ///< In ColumnFill::dense, if it is not in a group.
  std::optional<PlaceInGroup> repeated = std::nullopt;
};

/// The columns to which the grains of a split are decoded.
///
/// Call reserve() first; then decode rows to where the columns are, and remove those that do not
/// remain, grain by grain. Owns the memory. Belongs to one thread.
class GrainColumns {
 public:
  GrainColumns(const WantedColumns& wanted, BufferPool& pool);

  /// Takes memory for all rows and for as many ids as the pages can hold, and sets the grains'
  /// `room`. Returns what is wrong with a grain whose columns do not fit.
  std::optional<BadRow> reserve(std::vector<LoadedGrain>& grains, bool keep_origins);

  ColumnFill& fill() { return *fill_; }
  const ColumnFill& fill() const { return *fill_; }
  const std::vector<DenseColumn>& dense() const { return dense_; }
  std::vector<IdColumn>& ids() { return ids_; }
  std::vector<RepeatedGroup>& groups() { return groups_; }

  /// Keeps the rows `kept` of those decoded from row `begin` on; `before` is what ids() was before
  /// them.
  void compact(std::size_t begin, const std::vector<std::uint32_t>& kept,
               const std::vector<IdColumn>& before);

  /// Moves the first `rows` rows out.
  ColumnSet finish(std::size_t rows);

 private:
  std::size_t list_bytes(bool of_groups) const;
  std::optional<BadRow> check_room(const std::vector<LoadedGrain>& grains, std::size_t flat) const;
  void place_ids();

  const WantedColumns& wanted_;
  BufferPool& pool_;
  std::size_t rows_ = 0;  // of all grains
  std::optional<ColumnFill> fill_;
  std::vector<DenseColumn> dense_;
  std::size_t plain_dense_ = 0;  // dense columns that are in no group
  std::vector<IdColumn> ids_;
  std::vector<RepeatedGroup> groups_;
  Buffer lists_;
};

}  // namespace forebay::parquet
