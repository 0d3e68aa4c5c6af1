#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/scratch.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/row_dealer.h"

namespace forebay::parquet {

/// The way of decoded columns to their places in the result: straight, or, after begin(), by
/// scratch memory from which their rows are dealt while the column is still in a cache.
///
/// Decode a column to where `source_of` says, then call `finish` with the same place. Owns the
/// scratch memory, for one column at a time. Belongs to one thread.
class DealtColumns {
 public:
  explicit DealtColumns(BufferPool& pool) : values_(pool), offsets_(pool) {}

  void begin(const RowDeal& deal, std::size_t rows) { dealer_.emplace(deal, rows); }
  bool has_begun() const { return dealer_.has_value(); }

  /// A column with one value for each of the rows.
  template <class T>
  T* source_of(T* place) {
    static_assert(sizeof(T) <= sizeof(std::int64_t));
    return dealer_ ? reinterpret_cast<T*>(values_.of(dealer_->rows())) : place;
  }
  template <class T>
  void finish(T* place) {
    if (dealer_) dealer_->move(reinterpret_cast<const T*>(values_.data()), place);
  }

  /// A sparse column, which is empty so far.
  IdSink source_of(const IdSink& place) {
    if (!dealer_) return place;
    IdSink source = place;
    source.values = values_.of(place.room);
    source.offsets = offsets_.of(dealer_->rows() + 1);
    source.offsets[0] = 0;
    return source;
  }
  /// `source` has been decoded; `place` becomes what it is, with the rows dealt.
  void finish(const IdSink& source, IdSink& place) const {
    std::int64_t* const values = place.values;
    std::int32_t* const offsets = place.offsets;
    place = source;
    if (!dealer_) return;
    place.values = values;
    place.offsets = offsets;
    if (source.jagged) {
      dealer_->move_lists({source.values, source.offsets}, {values, offsets});
    } else {
      dealer_->move(source.values, values);
    }
  }

  /// Deals a column that is in its place already; nothing if it is null or begin() was not called.
  template <class T>
  void deal_in_place(T* column) {
    if (!dealer_ || column == nullptr) return;
    std::copy_n(column, dealer_->rows(), source_of(column));
    finish(column);
  }

 private:
  Scratch<std::int64_t> values_;
  Scratch<std::int32_t> offsets_;
  std::optional<RowDealer> dealer_;
};

}  // namespace forebay::parquet
