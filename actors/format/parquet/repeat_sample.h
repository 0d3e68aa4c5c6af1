#pragma once

#include <vector>

#include "actors/format/parquet/footer.h"
#include "actors/format/repeat_sample.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"
#include "core/data/buffer_pool.h"

namespace forebay::parquet {

/// Compares the first rows of each of the footer's leaves, up to 10,000, whose pages lie in the
/// first bytes of its column chunk. Reads at most 64 MiB in all. Two nulls are equal. Damaged pages
/// and unknown types end a column's sample. Fails as InputFile::read().
Result<std::vector<RepeatSample>> sample_repeats(const InputFile& file, const Footer& footer,
                                                 BufferPool& pool);

}  // namespace forebay::parquet
