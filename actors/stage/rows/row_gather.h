#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

#include "actors/stage/rows/row_slices.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Gathers columns of slices, each into memory that a SlabCarver gives.
///
/// Row i of the result is row sources[i] of all slices: the reads go to random places, and the
/// result is written from its start to its end. So a list's place follows from the lists before it,
/// and one pass moves ids and offsets; scattering lists to random places takes four passes. A
/// column of one slice fits into a cache. Those of several slices lie far from each other, so each
/// column is first laid out in one piece, in `scratch`; of lists that may be long, only their
/// addresses are. Borrows everything that it is given.
class RowGather {
 public:
  /// Bytes of scratch memory for each row, and for all rows together.
  static constexpr std::size_t kScratchRow = 16;
  static constexpr std::size_t kScratch = 16;

  RowGather(std::span<const RowSlice> slices, std::span<const std::uint32_t> sources,
            SlabCarver& carver, std::byte* scratch)
      : slices_(slices), sources_(sources), carver_(carver), scratch_(scratch) {}

  /// The column of one value a row that column_of(set) returns of a ColumnSet.
  template <class ColumnOf>
  auto values(const ColumnOf& column_of) const {
    using T = std::remove_pointer_t<std::invoke_result_t<ColumnOf, const ColumnSet&>>;
    return gather(slices_.size() == 1 ? column_of(*slices_[0].columns) + slices_[0].begin
                                      : in_one_piece<T>([&](const RowSlice& slice) {
                                          const T* first = column_of(*slice.columns) + slice.begin;
                                          return std::span<const T>(first, slice.rows());
                                        }));
  }

  SparseColumn lists(std::size_t feature) const;

  /// The references to repeated rows; the rows themselves stay where they are. The sets of all
  /// slices come one behind the other, those of a set with several slices once.
  RepeatedColumns repeated(std::size_t group) const;

 private:
  template <class T>
  T* gather(const T* from) const {
    T* to = carver_.take<T>(sources_.size());
    for (std::size_t i = 0; i < sources_.size(); ++i) to[i] = from[sources_[i]];
    return to;
  }

  /// Copies what values_of(slice) returns, a span of T, of each slice to scratch memory. Asks for
  /// values ahead: the processor itself would wait for the start of each slice.
  template <class T, class ValuesOf>
  T* in_one_piece(const ValuesOf& values_of) const {
    constexpr std::size_t kAhead = 3;  // slices
    constexpr std::size_t kLine = 64 / sizeof(T);
    T* const all = reinterpret_cast<T*>(scratch_);
    T* to = all;
    for (std::size_t i = 0; i < slices_.size(); ++i) {
      if (i + kAhead < slices_.size()) {
        const std::span<const T> ahead = values_of(slices_[i + kAhead]);
        for (std::size_t k = 0; k < ahead.size(); k += kLine) __builtin_prefetch(&ahead[k]);
      }
      const std::span<const T> values = values_of(slices_[i]);
      std::memcpy(to, values.data(), values.size_bytes());
      to += values.size();
    }
    return all;
  }

  SparseColumn short_lists(std::size_t feature) const;
  SparseColumn long_lists(std::size_t feature) const;
  std::int32_t* offsets_in_one_piece(std::size_t feature, std::int32_t* offsets) const;

  /// Gathers lists: list_of(row) says where one is, copy(list, to) writes its ids.
  template <class ListOf, class Copy>
  SparseColumn gather_lists(std::size_t feature, const ListOf& list_of, const Copy& copy) const;

  std::span<const RowSlice> slices_;
  std::span<const std::uint32_t> sources_;
  SlabCarver& carver_;
  std::byte* scratch_;
};

}  // namespace forebay
