#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forebay {

/// Rows [begin, end).
struct RowRange {
  std::size_t begin = 0;
  std::size_t end = 0;

  std::size_t size() const { return end - begin; }
  bool contains(const RowRange& other) const { return begin <= other.begin && other.end <= end; }
  /// Whether a row is in both.
  bool meets(const RowRange& other) const {
    return std::max(begin, other.begin) < std::min(end, other.end);
  }
};

/// A rank's part of every batch, when several ranks train on the batches of one order: the r-th of
/// R runs of its rows. A value.
struct RankShare {
  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;

  bool is_all() const { return ranks == 1; }

  /// The rows of a batch of `rows` rows that are this rank's.
  RowRange of(std::size_t rows) const {
    return {rows * rank / ranks, rows * (rank + std::size_t{1}) / ranks};
  }
};

/// The lane that gets the `turn`-th of the rows left over when `lanes`, a power of two, do not
/// divide the rows: 15, 7, 11, 3, ... of 16. After any number of turns, 2 or 4 ranks have had as
/// many of these rows as their parts of a batch need.
constexpr std::size_t lane_in_turn(std::size_t turn, std::size_t lanes) {
  std::size_t reversed = 0;
  for (std::size_t bit = 1; bit < lanes; bit *= 2, turn /= 2) reversed = 2 * reversed + turn % 2;
  return lanes - 1 - reversed;
}

/// What of a split a rank needs, and what it has to know of the rest. Immutable.
struct SplitShare {
  std::vector<std::uint32_t> block_rows;  ///< Rows that remain of each block, in the split's order.
  std::uint64_t rows = 0;                 ///< Their sum.
  std::uint64_t first_row = 0;            ///< Rows of the epoch that remain before the split.
  std::size_t lanes = 1;                  ///< EpochOrder::lanes()
  RowRange needed;                        ///< Lanes that are needed, of `lanes`; none: no row.

  bool is_needed() const { return needed.size() > 0; }
};

/// The rows of a part of a split that a column set holds.
struct PartialRows {
  std::size_t all = 0;           ///< Rows of the part.
  std::vector<RowRange> ranges;  ///< Those that the set holds, one behind the other; ascending.

  /// Where the set holds `rows`; nullopt if it does not.
  std::optional<std::size_t> place_of(const RowRange& rows) const;
};

}  // namespace forebay
