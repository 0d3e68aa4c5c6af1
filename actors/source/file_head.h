#pragma once

#include <cstdint>
#include <vector>

#include "actors/source/file_list.h"
#include "core/base/result.h"

namespace forebay {

/// The first `bytes` decompressed bytes of a file, or all of them.
Result<std::vector<char>> read_head(const ListedFile& listed, std::uint64_t bytes);

}  // namespace forebay
