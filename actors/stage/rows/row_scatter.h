#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "actors/stage/rows/row_mover.h"

namespace forebay {

/// Moves columns of many slices, each to memory that a SlabCarver gives.
///
/// Row i of all slices becomes row places[i]. Slices are short and far from each other, so each is
/// read from its start to its end; the writes go to random places of the result, which fits into a
/// cache. Borrows everything that it is given.
class RowScatter {
 public:
  RowScatter(std::span<const RowSlice> slices, std::span<const std::uint32_t> places,
             SlabCarver& carver)
      : slices_(slices), places_(places), carver_(carver) {}

  /// The column of one value a row that column_of(set) returns of a ColumnSet.
  template <class ColumnOf>
  auto values(const ColumnOf& column_of) const {
    using T = std::remove_pointer_t<std::invoke_result_t<ColumnOf, const ColumnSet&>>;
    constexpr std::size_t kAhead = 3;  // slices
    T* to = carver_.take<T>(places_.size());
    const std::uint32_t* place = places_.data();
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      const RowSlice& slice = slices_[i];
      if (const std::size_t next = i + kAhead; next < slices_.size()) {
        fetch(column_of(*slices_[next].columns), slices_[next]);
      }
      const T* from = column_of(*slice.columns);
      for (std::size_t row = slice.begin; row < slice.end; ++row) to[*place++] = from[row];
    }
    return to;
  }

  SparseColumn lists(std::size_t feature) const;

  /// The references to repeated rows; the rows themselves stay where they are. The sets of all
  /// slices come one behind the other, those of a set with several slices once.
  RepeatedColumns repeated(std::size_t group) const;

 private:
  /// Asks for the values of a slice of a column: the processor itself would wait for the start of
  /// each slice.
  template <class T>
  static void fetch(const T* column, const RowSlice& slice) {
    constexpr std::size_t kLine = 64 / sizeof(T);
    for (std::size_t row = slice.begin; row < slice.end; row += kLine) {
      __builtin_prefetch(column + row);
    }
  }

  /// Calls `visit` with each list of a feature, its first id and length, and its row's new place.
  template <class Visitor>
  void for_each_list(std::size_t feature, const Visitor& visit) const;

  void write_offsets(std::size_t feature, std::int32_t* offsets) const;
  void write_short_lists(std::size_t feature, const SparseColumn& to) const;
  void write_lists(std::size_t feature, const SparseColumn& to) const;

  std::span<const RowSlice> slices_;
  std::span<const std::uint32_t> places_;
  SlabCarver& carver_;
};

}  // namespace forebay
