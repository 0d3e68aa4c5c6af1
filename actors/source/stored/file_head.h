#pragma once

#include <cstdint>
#include <vector>

#include "actors/source/stored/file_list.h"
#include "core/base/result.h"

namespace forebay {

/// Returns the first `bytes` decompressed bytes of a file, or all bytes of a shorter file.
Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes);

}  // namespace forebay
