#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/result.h"
#include "core/data/buffer_pool.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"
#include "core/wire/compression.h"
#include "core/wire/frame.h"

namespace forebay {

/// How a sender packs columns.
struct PackOptions {
  /// Per sparse feature: its ids lie below this; 0: look at them. An id that does not costs a
  /// second pass, never a wrong byte.
  std::vector<std::int64_t> bounds;
  bool checksum = true;
  Compression compression = Compression::kNone;
};

/// PackOptions::bounds of a schema.
std::vector<std::int64_t> id_bounds(const Schema& schema);

/// Packs the columns (README.md has the layout): a frame that describes them and one of data, in
/// one buffer of `pool`, which must outlive the frames. `extra` travels in the first, unread.
/// Origins stay behind. `columns` are not packed themselves.
Frames pack_columns(const ColumnSet& columns, std::span<const std::byte> extra,
                    const PackOptions& options, BufferPool& pool);

/// What a receiver is ready to take.
struct UnpackLimits {
  std::size_t max_rows = 0;
  std::size_t dense = 0;      ///< Features, exactly.
  std::size_t sparse = 0;     ///< Features, exactly.
  std::size_t max_bytes = 0;  ///< Of the data, once it is not compressed any more.
};

/// Columns as they came.
struct UnpackedColumns {
  ColumnSet columns;  ///< Packed; holds the frame of data.
  std::vector<std::byte> extra;
};

/// Wraps the columns in `frames` without a copy; only offsets of jagged lists, and what was
/// compressed, are made anew, in buffers of `pool`. All is checked before anyone reads it: kCorrupt
/// says what is wrong. Reads nothing outside the frames.
Result<UnpackedColumns> unpack_columns(const Frames& frames, const UnpackLimits& limits,
                                       BufferPool& pool);

}  // namespace forebay
