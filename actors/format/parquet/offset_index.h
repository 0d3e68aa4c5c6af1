#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "actors/format/parquet/footer.h"
#include "core/base/result.h"

namespace forebay::parquet {

/// Where a data page lies, its header included.
struct PagePlace {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t first_row = 0;  ///< Its number in the row group.
};

/// Reads the offset index of a column chunk, which is untrusted. Returns its pages in file order:
/// at least one, inside the chunk, the first with row 0 and where the footer says. kCorrupt says
/// what is wrong, without where.
Result<std::vector<PagePlace>> read_offset_index(std::span<const char> bytes, const Chunk& chunk,
                                                 std::uint64_t rows);

}  // namespace forebay::parquet
