#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actors/format/raw_split.h"
#include "actors/rank_share.h"
#include "core/data/column_set.h"
#include "core/data/repeated_columns.h"

namespace forebay {

/// The times of a split's stages, each by the monotonic clock of the node where the stage ran.
/// Travels with the split. A value.
struct SplitTimes {
  using Time = std::chrono::nanoseconds;
  struct Span {
    Time begin{0};
    Time end{0};
  };
  std::vector<Span> stages = {};  ///< Of the stages that have run, in order.
  Time sent{0};     ///< The split was finished and ready to be sent to the trainer's node.
  Time arrived{0};  ///< It arrived there. `sent` and `arrived` are 0 if it was made there.
};

/// Identifies a split. `number` counts over all epochs, so it orders splits.
struct SplitId {
  std::uint64_t number = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< In its epoch.
  std::uint64_t row_key = 0;  ///< Of the permutation of its rows.
  std::uint64_t cost = 0;     ///< Bytes reserved for it, or for this part of it: an upper bound.
};

class BegunRead;
class SplitAssembly;

/// A split on its way from its issue to its batch, the message of every stage's pool. Each stage
/// replaces what the stage before it left here.
///
/// A split of grains travels in several messages: up to decode in pieces, each some of its blocks,
/// and after decode in as many parts, each some of its rows (SplitAssembly).
struct Split {
  SplitId id;
  ColumnSet columns = {};        ///< From decode on.
  std::vector<BadRow> bad = {};  ///< From decode on, like `filtered`.
  std::uint64_t filtered = 0;    ///< Rows left out by the row filter.
  SplitTimes times = {};
  std::uint64_t sampled = 0;  ///< Rows left out by the operator `sampling`.
  /// What repeats in each group of repeated columns, as decoded.
  std::vector<RepeatCount> repeats = {};
  std::string node = {};  ///< The node that made it; empty: this process.
  RawSplit raw = {};      ///< At issue its blocks alone; the bytes from load to decode.
  /// Blocks that were begun before load; null where load reads them at once.
  std::shared_ptr<BegunRead> begun = {};
  std::uint32_t part = 0;   ///< Up to decode the piece's number, then the part's.
  std::uint32_t parts = 1;  ///< Of the split.
  /// Collects the pieces and gives out the rows of the parts; null for a split in one message.
  std::shared_ptr<SplitAssembly> assembly = {};
  /// What the rank of a training needs of the split; null: all of it.
  std::shared_ptr<const SplitShare> share = {};
  /// The rows that `columns` holds, if it holds some of the part's rows only.
  std::optional<PartialRows> partial = std::nullopt;
  /// No split: asks the batch actor to issue what may be issued now.
  bool is_wake_up = false;
  std::uint64_t key = id.number;  ///< Sort key of the pools.

  /// Bytes of its data: what a mailbox counts.
  std::size_t bytes() const { return raw.bytes.size() + columns.bytes(); }
};

}  // namespace forebay
