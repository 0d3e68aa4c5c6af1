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

/// Options for packing columns.
struct PackOptions {
  /// For each sparse feature: an upper bound of its ids; 0: scan the ids to find out. An id that is
  /// not below its bound costs a second pass, but no data is lost.
  std::vector<std::int64_t> bounds;
  /// The groups of columns that are stored once (Schema::repeated).
  std::vector<FeatureGroup> repeated = {};
  bool checksum = true;
  Compression compression = Compression::kNone;
};

/// The PackOptions::bounds for `schema`.
std::vector<std::int64_t> id_bounds(const Schema& schema);

/// The number of frames of packed columns with so many groups of repeated columns.
constexpr std::size_t column_frames(std::size_t groups) { return 2 * (1 + groups); }

/// Packs `columns` into two frames, a description and the data (README.md has the layout), and two
/// more for each group of repeated columns: the rows that `columns` names, each once. `pool` must
/// outlive the frames. The first frame also carries `extra` as opaque bytes. Row origins are not
/// sent. `columns` must not be packed themselves.
Frames pack_columns(const ColumnSet& columns, std::span<const std::byte> extra,
                    const PackOptions& options, BufferPool& pool);

/// The limits that a receiver sets.
struct UnpackLimits {
  std::size_t max_rows = 0;
  std::size_t dense = 0;      ///< Exact number of features.
  std::size_t sparse = 0;     ///< Exact number of features.
  std::size_t max_bytes = 0;  ///< Of the data after decompression.
  bool weights = false;       ///< Whether rows have weights.
  std::size_t extras = 0;     ///< Exact number of extra columns.
  /// The groups of features that are stored once (Schema::repeated), part of those counted above.
  std::vector<FeatureGroup> repeated = {};
};

/// Received columns.
struct UnpackedColumns {
  ColumnSet columns;  ///< Packed; owns the data frame.
  std::vector<std::byte> extra;
};

/// Wraps the columns in `frames` without a copy; only the offsets of jagged lists and decompressed
/// data are written to new buffers of `pool`. Checks everything before it returns the columns;
/// kCorrupt says what is wrong. Reads nothing outside the frames.
Result<UnpackedColumns> unpack_columns(const Frames& frames, const UnpackLimits& limits,
                                       BufferPool& pool);

}  // namespace forebay
