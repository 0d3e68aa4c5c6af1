#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// How the rows of a set are dealt to runs, like cards to players. What is dealt are chunks of
/// neighbouring rows: of each `runs` neighbouring chunks every run gets one, and `key` draws which.
/// So a run is a sample of the whole set, and most rows that repeat their neighbour's values stay
/// in one run with it.
struct RowDeal {
  /// A chunk has so many rows or up to twice as many; fewer where a run has fewer.
  static constexpr std::size_t kTogether = 64;

  std::size_t runs = 1;
  std::uint64_t key = 0;
};

/// Deals columns of one set, column by column. A run has its rows in the order in which they were.
///
/// The deal is a pure function of (RowDeal, number of rows). Immutable, so any thread may deal with
/// it.
class RowDealer {
 public:
  /// `deal.runs` is positive.
  RowDealer(const RowDeal& deal, std::size_t rows);

  std::size_t rows() const { return rows_; }

  /// [runs + 1]: where each run begins after the deal, and the number of rows. Runs are equally
  /// long, give or take a row for each of their chunks.
  const std::vector<std::size_t>& begins() const { return begins_; }

  /// Writes the values of a column with one value a row in their new order; no overlap.
  template <class T>
  void move(const T* from, T* to) const {
    for_each_chunk([&](std::size_t source, std::size_t place, std::size_t count) {
      std::copy_n(from + source, count, to + place);
    });
  }

  /// The same for lists; both columns have offsets and room for as many ids.
  void move_lists(const SparseColumn& from, const SparseColumn& to) const;

 private:
  /// The first row of a chunk, before the deal.
  std::size_t source_of(std::size_t chunk) const { return rows_ * chunk / order_.size(); }

  /// Calls `visit(source, place, count)` for the chunks in their new order: `count` rows from
  /// `source` on come to `place`.
  template <class Visitor>
  void for_each_chunk(const Visitor& visit) const {
    std::size_t place = 0;
    for (const std::uint32_t chunk : order_) {
      const std::size_t source = source_of(chunk);
      const std::size_t count = source_of(chunk + std::size_t{1}) - source;
      visit(source, place, count);
      place += count;
    }
  }

  const std::size_t rows_;
  std::vector<std::uint32_t> order_;  ///< The chunk that comes to each place, run by run.
  std::vector<std::size_t> begins_;
};

/// Deals the rows of `columns` in their own memory; takes memory for one column beside it. Values
/// keep their bits; a list keeps the order of its ids.
void deal_rows(ColumnSet& columns, const RowDeal& deal, BufferPool& pool);

}  // namespace forebay
