#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/rank_share.h"
#include "actors/stage/rows/permute.h"
#include "actors/stage/split.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/row_dealer.h"

namespace forebay {

/// How a split of grains is made.
struct SplitCut {
  std::vector<std::vector<BlockRef>> pieces;  ///< What is loaded and decoded at once.
  std::size_t parts = 1;                      ///< In which the rows are handed on.

  bool is_whole() const { return parts == 1; }
};

/// Cuts a split of grains whose columns take `decoded` bytes. A piece is a grain, or several small
/// ones; if the order of the rows is kept, all of them. There are as many parts as pieces, so that
/// every stage handles as many messages as every other; more where grains are fat, and fewer where
/// a part would have less than RowDeal::kTogether rows of a piece. Pure.
SplitCut cut_split(const std::vector<BlockRef>& blocks, std::uint64_t decoded, bool permutes_rows);

/// A split of grains while it is made: collects its decoded pieces and deals their rows to parts.
///
/// The rows of each piece are dealt to n nearly equal runs (RowDeal), and part p of n takes the
/// p-th run of each piece, one behind the other; so a part mixes all grains, and has chunks of
/// every place of each. These rows are cut into kBatchLanes equal sections, each of which is
/// permuted in itself: the rows of a section come from the few pieces that the split's order puts
/// there (EpochOrder). The runs of the largest piece are a few rows longer or shorter, so that the
/// sections of every part but the last one take all of its rows.
///
/// For a rank of a training, which knows how many rows of each piece remain, a part has the
/// sections alone that the rank needs, and the split those of its pieces that have rows in them.
///
/// Owns the pieces' columns; lives until the last part has its rows. Any thread may call add() and
/// ask for pieces, and once add() has returned true everything else.
class SplitAssembly {
 public:
  SplitAssembly(const SplitId& id, std::size_t pieces, std::size_t parts);
  /// A rank's share of a split, of whose pieces so many rows remain.
  SplitAssembly(const SplitId& id, const std::vector<std::size_t>& piece_rows, std::size_t parts,
                std::shared_ptr<const SplitShare> share);

  const SplitId& id() const { return id_; }
  std::size_t parts() const { return parts_; }

  /// Whether the split is made of this piece, too.
  bool needs(std::size_t piece) const { return needed_[piece]; }
  /// How many rows of a piece have to remain; nullopt: as many as there are.
  std::optional<std::size_t> counted_rows(std::size_t piece) const;

  /// Takes a decoded piece, whose rows are dealt unless all rows keep their order. Returns whether
  /// it was the last one.
  bool add(Split&& piece);

  /// The rows of all pieces.
  std::uint64_t rows() const;
  /// Rows that a part's columns have, and the most bytes of its columns.
  std::size_t rows_of(std::size_t part) const;
  std::size_t bytes_of(std::size_t part) const;

  /// Returns part number `part` as the message of the stage after decode. The first part carries
  /// the damaged rows and the counts of the whole split.
  static Split part(const std::shared_ptr<SplitAssembly>& split, std::size_t part);

  /// Returns the columns of a part: the rows of each section permuted, or all in their order.
  ColumnSet columns_of(std::size_t part, bool permuted, BufferPool& pool) const;

  /// How the rows of a piece have to be dealt before add(): a run for each part.
  RowDeal deal_of(std::size_t piece) const;

 private:
  /// What a part's columns have: first some sections, then perhaps the rows behind all sections.
  struct Contents {
    PartialRows rows;
    Sections sections;
  };

  void find_begins(std::size_t piece, std::size_t rows);
  void even_out();
  void find_needed();
  std::size_t begin_of(std::size_t piece, std::size_t part) const { return begins_[piece][part]; }
  RowRange part_range(std::size_t part) const;
  bool needs_rest(const RowRange& part) const;
  Contents contents_of(std::size_t part) const;
  std::vector<RowSlice> slices_of(std::size_t part, const Contents& contents) const;
  void mark_needed(std::size_t part);

  const SplitId id_;
  const std::size_t parts_;
  const std::shared_ptr<const SplitShare> share_;  // null: all rows
  std::vector<Split> pieces_;                      // each written by the thread that adds it
  // Of each piece's runs, and behind them its rows; those of a share are known from the start.
  std::vector<std::vector<std::size_t>> begins_;
  std::vector<bool> needed_;
  std::atomic<std::size_t> missing_;
};

}  // namespace forebay
