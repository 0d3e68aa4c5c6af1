#pragma once

#include <cstddef>

#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/wire/column_frames.h"
#include "core/wire/frame.h"

namespace forebay {

/// Packs a finished split for another process: its columns, its damaged rows and its counts. `pool`
/// must outlive the frames.
Frames pack_split(const Split& split, const PackOptions& options, BufferPool& pool);

/// The limits within which a receiver accepts a split.
struct SplitLimits {
  UnpackLimits columns;
  std::size_t files = 0;   ///< Of the dataset; damaged rows refer to them by number.
  std::size_t stages = 0;  ///< Of the job, each of which has a time.
};

/// Reads the frames of pack_split in place, as Pipeline::accept takes the split: of its id only the
/// number is known, and its times are by the sender's clock. kCorrupt names the error.
Result<Split> unpack_split(const Frames& frames, const SplitLimits& limits, BufferPool& pool);

}  // namespace forebay
