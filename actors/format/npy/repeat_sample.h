#pragma once

#include <vector>

#include "actors/format/npy/arrays.h"
#include "actors/format/repeat_sample.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"

namespace forebay::npy {

/// Compares the first rows of each column of an array by their bytes: up to 10,000 rows, and at
/// most 64 MiB of them. Fails as InputFile::begin_read().
Result<std::vector<RepeatSample>> sample_repeats(const InputFile& file, const Array& array);

}  // namespace forebay::npy
