#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "actors/format/parquet/footer.h"
#include "actors/format/parquet/offset_index.h"

namespace forebay::parquet {

/// The pages of a wanted column in one row group.
struct ColumnPages {
  Chunk chunk;
  std::vector<PagePlace> pages;  ///< From its offset index; empty: it was not read.

  /// Bytes of the dictionary; known only with pages.
  std::uint64_t dictionary_bytes() const {
    return pages.empty() ? 0 : pages.front().offset - chunk.offset;
  }
};

/// The data pages that hold a range of rows: [first, end) of ColumnPages::pages.
struct PageSpan {
  std::size_t first = 0;
  std::size_t end = 0;
};
PageSpan pages_of(const ColumnPages& column, std::uint64_t first_row, std::uint64_t end_row);

/// A row group to cut.
struct GroupSize {
  std::uint64_t rows = 0;
  std::uint64_t decoded = 0;  ///< Bytes that all of its rows take as columns.
};

/// Returns whether the group is large enough to be cut where its pages allow it.
bool wants_cut(const GroupSize& group, const std::vector<ColumnPages>& columns);

/// Returns the rows at which the grains of a group begin, the first 0. Each column has its pages.
///
/// A grain aims at 1 MiB of wanted bytes and at most 4 MiB of columns. Grains are larger where
/// smaller ones would read too much twice: a page that two grains share, since the columns' pages
/// do not end at one row, and a dictionary from its third grain on. All of that is at most 1/16 of
/// the group's bytes, unless a grain would then take more than 64 MiB of columns.
std::vector<std::uint64_t> cut_group(const GroupSize& group,
                                     const std::vector<ColumnPages>& columns);

}  // namespace forebay::parquet
