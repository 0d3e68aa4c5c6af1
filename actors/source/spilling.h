#pragma once

#include <cstdint>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/indexed_dataset.h"
#include "actors/source/spill_folder.h"
#include "core/base/result.h"

namespace forebay {

/// The most bytes that may have to be decoded to read one block. A compressed file with more bytes
/// between two restart points is read from a decompressed copy.
inline constexpr std::uint64_t kLongestSpan = 8 << 20;

/// Writes a decompressed copy to `folder` of every compressed file that needs one. With
/// random_access, also copies every other compressed file while space is left, because a shuffled
/// read inflates about a hundred times the bytes it uses. Uses existing copies. Announces its
/// actions. kOverloaded names run.spill, or the disk, and the size needed.
Status spill_files(std::vector<IndexedFile>& files, SpillFolder& folder,
                   const DatasetOptions& options);

}  // namespace forebay
