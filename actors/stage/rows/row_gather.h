#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "actors/stage/rows/row_mover.h"

namespace forebay {

/// Moves columns of one slice, each to memory that a SlabCarver gives.
///
/// Row i of the result is row sources[i] of the slice: the reads go to random places of the slice,
/// whose columns fit into a cache, and the result is written from its start to its end. So a list's
/// place follows from the lists before it, and one pass moves ids and offsets, where RowScatter has
/// to know all lengths first: half the time. Borrows everything that it is given.
class RowGather {
 public:
  RowGather(const RowSlice& slice, std::span<const std::uint32_t> sources, SlabCarver& carver)
      : slice_(slice), sources_(sources), carver_(carver) {}

  /// The column of one value a row that column_of(set) returns of a ColumnSet.
  template <class ColumnOf>
  auto values(const ColumnOf& column_of) const {
    using T = std::remove_pointer_t<std::invoke_result_t<ColumnOf, const ColumnSet&>>;
    const T* from = column_of(*slice_.columns) + slice_.begin;
    T* to = carver_.take<T>(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) to[i] = from[sources_[i]];
    return to;
  }

  SparseColumn lists(std::size_t feature) const;

  /// The references to repeated rows; the rows themselves stay where they are.
  RepeatedColumns repeated(std::size_t group) const;

 private:
  /// Calls copy(ids, length, to) for each list in its new order, and writes its offset.
  template <class Copy>
  void write_lists(const SparseColumn& from, const SparseColumn& to, const Copy& copy) const;

  const RowSlice& slice_;
  std::span<const std::uint32_t> sources_;
  SlabCarver& carver_;
};

}  // namespace forebay
