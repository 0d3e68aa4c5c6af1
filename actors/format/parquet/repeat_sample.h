#pragma once

#include <cstdint>
#include <vector>

#include "actors/format/parquet/footer.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// How often the values of a column come in a row.
struct RepeatSample {
  std::uint64_t rows = 0;       ///< Rows compared; 0: none could be read.
  std::uint64_t different = 0;  ///< Those that differ from the row before, and the first one.

  /// Rows over different rows; 0 if unknown.
  double in_a_row() const {
    return rows == 0 ? 0 : static_cast<double>(rows) / static_cast<double>(different);
  }
};

/// Compares the first rows of each of the footer's leaves, up to 10,000, whose pages lie in the
/// first bytes of its column chunk. Reads at most 64 MiB in all. Two nulls are equal. Damaged pages
/// and unknown types end a column's sample. Fails as InputFile::read().
Result<std::vector<RepeatSample>> sample_repeats(const InputFile& file, const Footer& footer,
                                                 BufferPool& pool);

}  // namespace forebay::parquet
