#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/wire/column_frames.h"
#include "core/wire/frame.h"

namespace forebay {

/// Packs a finished split for another process: its columns, its damaged rows and its counts. `pool`
/// must outlive the frames.
Frames pack_split(const ColumnSplit& split, const PackOptions& options, BufferPool& pool);

/// The limits within which a receiver accepts a split.
struct SplitLimits {
  UnpackLimits columns;
  std::size_t files = 0;  ///< Of the dataset; damaged rows refer to them by number.
};

/// A split made by another process, as Pipeline::accept takes it.
struct UnpackedSplit {
  std::uint64_t number = 0;
  ColumnSet columns;  ///< Packed.
  std::vector<BadRow> bad;
  std::uint64_t filtered = 0;
  SplitTimes times = {};  ///< By the sender's clock.
};

/// Reads the frames of pack_split in place. kCorrupt names the error.
Result<UnpackedSplit> unpack_split(const Frames& frames, const SplitLimits& limits,
                                   BufferPool& pool);

}  // namespace forebay
