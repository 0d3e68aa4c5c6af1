#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/distinct_lists.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/repeated_columns.h"
#include "core/data/schema.h"

namespace forebay::parquet {

/// A group of repeated columns while the grains of a split are decoded: where the columns of a
/// grain go, of which then a set of stored rows is made.
///
/// Call begin(), decode each column, call end(), for each grain. Owns the memory. Belongs to one
/// thread.
class RepeatedGroup {
 public:
  /// How many ids a sparse column of a grain may have.
  struct Room {
    std::size_t ids = 0;
    bool is_list = false;
  };

  /// All grains together have at most `rows` rows.
  RepeatedGroup(const FeatureGroup& features, std::size_t rows, BufferPool& pool);

  /// Takes memory for the columns of a grain of `rows` rows; `sparse` has the group's sparse
  /// columns.
  void begin(std::size_t rows, std::span<const Room> sparse);

  // Where column `i` of its kind goes.
  float* dense(std::size_t i) const { return grain_.columns.dense[i]; }
  IdSink& ids(std::size_t i) { return ids_[i]; }              ///< If it is no list.
  DistinctLists& lists(std::size_t i) { return *lists_[i]; }  ///< If it is a list.

  /// Makes a set of the grain's rows. Its first row becomes row `place` of the result.
  void end(std::size_t place);

  /// Where the values of each row of the result are, at `place` and behind it those of the rows of
  /// the grain that ended last.
  UniqueRow* references() const { return references_.as<UniqueRow>(); }

  /// Moves the group to `columns`.
  void finish(ColumnSet& columns);

 private:
  const FeatureGroup& features_;
  BufferPool& pool_;
  Buffer references_;
  RepeatedColumns done_;
  DistinctColumns grain_;
  std::vector<IdSink> ids_;
  std::vector<std::optional<DistinctLists>> lists_;
};

}  // namespace forebay::parquet
