#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/format.h"
#include "actors/format/raw_split.h"
#include "actors/stage/split_times.h"
#include "core/data/column_set.h"

namespace forebay {

/// Which split a message is about. `number` counts over all epochs, so it orders them.
struct SplitId {
  std::uint64_t number = 0;
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;    ///< In its epoch.
  std::uint64_t row_key = 0;  ///< Of the permutation of its rows.
  std::uint64_t cost = 0;     ///< Bytes of the window it has: what it may take at its largest.
};

/// Split queue → load: read these blocks.
struct LoadTask {
  SplitId id;
  std::vector<BlockRef> blocks;
  std::uint64_t key = id.number;  ///< What a pool sorts by, here and below.
};

/// load → decode: the bytes as they stand in the files.
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
  std::string node = {};  ///< Who made it; empty: this process.
  std::uint64_t key = id.number;
};

}  // namespace forebay
