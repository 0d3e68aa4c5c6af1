#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"

namespace forebay {

/// How the rows of a set are dealt to runs, like cards to players: of each `runs` neighbouring rows
/// every run gets one, and `key` draws which.
struct RowDeal {
  std::size_t runs = 1;
  std::uint64_t key = 0;

  /// The first row, after the deal, of run number `run`: all runs are equally long, give or take
  /// one row.
  static std::size_t begin_of(std::size_t run, std::size_t runs, std::size_t rows) {
    return rows * run / runs;
  }
};

/// Deals columns of one set, column by column. A run has its rows in the order in which they were,
/// so it is a sample of the whole set, and the deal reads and writes memory nearly in order.
///
/// The deal is a pure function of (RowDeal, number of rows). Owns a buffer of 4 bytes a row;
/// immutable, so any thread may deal with it.
class RowDealer {
 public:
  RowDealer(const RowDeal& deal, std::size_t rows, BufferPool& pool);

  std::size_t rows() const { return rows_; }

  /// Writes the values of a column with one value a row in their new order; no overlap.
  template <class T>
  void move(const T* from, T* to) const {
    for_each_run([from, to](std::size_t place, const std::uint32_t* sources, auto count) {
      for (std::size_t i = 0; i < count; ++i) to[place + i] = from[sources[i]];
    });
  }

  /// The same for lists; both columns have offsets and room for as many ids.
  void move_lists(const SparseColumn& from, const SparseColumn& to) const;

 private:
  /// Rows of a run that are dealt one behind the other. A tile of so many rows for each run stays
  /// in the first cache, and what a run gets of it fills a cache line.
  static constexpr std::size_t kTile = 16;

  std::size_t begin_of(std::size_t run) const { return RowDeal::begin_of(run, runs_, rows_); }
  /// Where the sources of a run in a tile begin.
  std::size_t sources_of(std::size_t tile, std::size_t run) const {
    const bool is_last = tile == full_tiles_;
    return tile * kTile * runs_ +
           (is_last ? begin_of(run) - run * full_tiles_ * kTile : run * kTile);
  }

  /// Calls `visit` with neighbouring rows of a run: the first one's place, and the rows, `count`
  /// of them, that come there. Full tiles have a count that the compiler knows.
  template <class Visitor>
  void for_each_run(const Visitor& visit) const {
    for (std::size_t tile = 0; tile < full_tiles_; ++tile) {
      for (std::size_t run = 0; run < runs_; ++run) {
        visit(begin_of(run) + tile * kTile, sources_.data() + sources_of(tile, run),
              std::integral_constant<std::size_t, kTile>());
      }
    }
    for (std::size_t run = 0; run < runs_; ++run) {
      const std::size_t place = begin_of(run) + full_tiles_ * kTile;
      visit(place, sources_.data() + sources_of(full_tiles_, run), begin_of(run + 1) - place);
    }
  }

  const std::size_t runs_;
  const std::size_t rows_;
  const std::size_t full_tiles_;
  Buffer memory_;
  std::span<std::uint32_t> sources_;  ///< The row that comes to each place, tile by tile.
};

/// Deals the rows of `columns` in their own memory; takes memory for one column beside it. Values
/// keep their bits; a list keeps the order of its ids.
void deal_rows(ColumnSet& columns, const RowDeal& deal, BufferPool& pool);

}  // namespace forebay
