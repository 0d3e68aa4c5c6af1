#pragma once

#include <cstddef>
#include <vector>

#include "actors/stage/split.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/wire/column_frames.h"
#include "core/wire/frame.h"

namespace forebay {

/// Packs a finished split, or a part of one, for another process: its columns, its damaged rows and
/// its counts. A split that is made in parts is sent as the frames of all parts, in order,
/// column_frames() of each. `pool` must outlive the frames.
Frames pack_split(const Split& split, const PackOptions& options, BufferPool& pool);

/// The limits within which a receiver accepts a split.
struct SplitLimits {
  UnpackLimits columns;
  std::size_t files = 0;   ///< Of the dataset; damaged rows refer to them by number.
  std::size_t stages = 0;  ///< Of the job, each of which has a time.
  std::size_t parts = 1;   ///< Of the split.
};

/// Reads the frames of a split in place, as Pipeline::accept takes it: its parts in order, or the
/// split in one; of its id only the number is known, and its times are by the sender's clock.
/// kCorrupt names the error.
Result<std::vector<Split>> unpack_split(const Frames& frames, const SplitLimits& limits,
                                        BufferPool& pool);

}  // namespace forebay
