#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/store/direct_memory.h"
#include "core/store/row_page.h"

namespace forebay {

/// A file of a RowLog that is written once, from its beginning to its end, and never changes:
///
///   pages of rows, all full but the last | the numbers of all rows (8 bytes each), to a whole page
///   | a last page that says what the file is, with checksums of the numbers and of itself
struct RowSegment {
  static constexpr const char* kExtension = ".rows";

  std::uint64_t sequence = 0;          ///< A later segment's copy of a row is the one that counts.
  std::vector<std::uint64_t> numbers;  ///< In the order of the pages.

  /// Of a page, for its checksum.
  static std::uint64_t where(std::uint64_t sequence, std::uint64_t page) {
    return sequence << 32 | page;
  }
  static std::uint64_t pages(const RowPageShape& shape, std::uint64_t rows) {
    return (rows + shape.rows - 1) / shape.rows;
  }
  /// Of the file that holds so many rows.
  static std::uint64_t bytes(const RowPageShape& shape, std::uint64_t rows);

  /// What stands behind the pages.
  DirectMemory footer(const RowPageShape& shape) const;

  /// The footer of a whole segment. kCorrupt, naming the file, for anything else: rows of another
  /// size, a file that is cut off or changed. The pages are checked as they are read.
  static Result<RowSegment> open(const std::string& path, const RowPageShape& shape);
};

}  // namespace forebay
