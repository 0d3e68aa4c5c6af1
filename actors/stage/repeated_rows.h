#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "actors/stage/rows/row_mover.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

namespace forebay {

/// The rows of a batch in the columns of one group of Schema::repeated: which of them share their
/// values, and these values.
///
/// Two rows share values if the same row of the same set is behind both. The sets outlive it.
class RepeatedRows {
 public:
  /// The rows of the batch, of sets that may be packed. `group` is the number of the group,
  /// `features` are its features.
  RepeatedRows(std::span<const RowSlice> slices, std::size_t group, const FeatureGroup& features);

  /// The different rows, numbered in the order in which the batch has them first.
  std::size_t unique() const { return sources_.size(); }
  /// [rows]: the number of each row's values.
  std::span<const std::uint32_t> numbers() const { return numbers_; }
  /// [unique]: the first row of the batch with these values.
  std::span<const std::uint32_t> first_rows() const { return first_rows_; }

  /// Ids of feature features.sparse[`column`] in all rows of the batch, and in the different ones.
  std::size_t num_ids(std::size_t column) const { return ids_[column].all; }
  std::size_t unique_ids(std::size_t column) const { return ids_[column].unique; }
  /// Writes the lengths of that feature's lists in all rows, their ids, or those of the different
  /// rows alone.
  void write_lengths(std::size_t column, std::int32_t* lengths) const;
  void write_ids(std::size_t column, std::int64_t* ids) const;
  void write_unique_ids(std::size_t column, std::int64_t* ids) const;
  /// Writes the values of feature features.dense[`column`], `stride` floats from row to row.
  void write_dense(std::size_t column, std::size_t stride, float* values) const;

 private:
  struct Source {
    const ColumnSet* set = nullptr;
    std::uint32_t row = 0;
  };
  /// The list of a feature in one of the different rows.
  struct List {
    std::size_t first = 0;
    std::size_t length = 0;
  };

  struct Ids {
    std::size_t all = 0;
    std::size_t unique = 0;
  };

  void number(std::span<const RowSlice> slices, std::size_t group);
  void measure(std::size_t features);
  static List list_of(const Source& source, std::size_t column);
  /// Writes the ids of a list; returns where they end.
  static std::int64_t* write_list(const Source& source, std::size_t column, std::int64_t* ids);

  std::vector<std::uint32_t> numbers_;
  std::vector<std::uint32_t> first_rows_;
  std::vector<std::uint32_t> times_;  // [unique]: rows with these values
  std::vector<Source> sources_;       // [unique]
  std::vector<Ids> ids_;              // [features.sparse]
};

}  // namespace forebay
