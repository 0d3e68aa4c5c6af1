#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/raw_split.h"
#include "actors/stage/split_times.h"
#include "core/data/column_set.h"

namespace forebay {

/// Identifies the split of a message. `number` counts over all epochs, so it orders splits.
struct SplitId {
  std::uint64_t number = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< In its epoch.
  std::uint64_t row_key = 0;  ///< Of the permutation of its rows.
  std::uint64_t cost = 0;     ///< Window bytes reserved for it: an upper bound of its size.
};

/// Split queue → load: read these blocks.
struct LoadTask {
  SplitId id;
  std::vector<BlockRef> blocks;
  std::uint64_t key = id.number;  ///< Sort key of the pools, here and below.
};

/// load → decode: the bytes as read from the files.
struct LoadedSplit {
  SplitId id;
  RawSplit raw;
  SplitTimes times = {};
  std::uint64_t key = id.number;
};

/// decode → shuffle → transform → batch: the rows as columns.
struct ColumnSplit {
  SplitId id;
  ColumnSet columns;
  std::vector<BadRow> bad;
  std::uint64_t filtered = 0;
  SplitTimes times = {};
  std::string node = {};  ///< The node that made it; empty: this process.
  std::uint64_t key = id.number;
};

}  // namespace forebay
