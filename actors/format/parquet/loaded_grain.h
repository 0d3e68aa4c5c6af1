#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actors/format/parquet/column_decoder.h"
#include "actors/format/parquet/grain_head.h"
#include "actors/format/parquet/page_reader.h"
#include "actors/format/parquet/wanted_columns.h"
#include "actors/format/raw_split.h"
#include "core/base/result.h"

namespace forebay::parquet {

/// A loaded grain: its head and the pages of its columns. Borrows the split's bytes.
struct LoadedGrain {
  const BlockRef* block = nullptr;
  GrainHead head;
  std::span<const char> pages;         ///< What follows the head.
  std::vector<std::size_t> room = {};  ///< Of each sparse column: most_ids(), once it is known.

  std::span<const char> pages_of(std::size_t leaf) const {
    return pages.subspan(head.leaves[leaf].begin, head.leaves[leaf].bytes);
  }
  PageReader::Limits limits_of(std::size_t leaf) const {
    const GrainLeaf& stored = head.leaves[leaf];
    return {.codec = stored.codec, .page_bytes = stored.page_bytes, .values = stored.values};
  }
  /// Which rows of a leaf's pages are the grain's.
  RowRange range_of(std::size_t leaf) const {
    const GrainLeaf& stored = head.leaves[leaf];
    RowRange range{.skipped = stored.skipped, .rows = head.rows};
    if (stored.is_indexed) range.behind = stored.behind;
    return range;
  }

  /// At most so many ids are in the pages of a leaf: one a row, or as many as they say.
  Result<std::size_t> most_ids(std::size_t leaf) const {
    const GrainLeaf& stored = head.leaves[leaf];
    if (stored.most_repetition == 0) return static_cast<std::size_t>(head.rows);
    auto counted = count_values(pages_of(leaf), limits_of(leaf));
    if (!counted) return counted;
    return std::min<std::size_t>(*counted, stored.values);
  }
};

/// Returns the place of a grain's row in its file, as a damaged row.
inline BadRow place_in(const LoadedGrain& grain, std::uint64_t row, std::string reason) {
  return {.file = grain.block->file,
          .offset = grain.block->offset + row,
          .line = grain.head.first_row + row,
          .reason = std::move(reason),
          .text = {},
          .group = grain.head.group};
}

/// The same for a column of the grain.
inline BadRow problem_in(const LoadedGrain& grain, const WantedLeaf& leaf,
                         const std::string& problem) {
  return place_in(grain, 0, "column " + quoted_text(leaf.name) + ": " + problem);
}

}  // namespace forebay::parquet
