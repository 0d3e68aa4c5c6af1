#pragma once

#include <cstdint>
#include <vector>

#include "actors/source/dataset.h"
#include "actors/source/indexed_dataset.h"
#include "actors/source/spill_folder.h"
#include "core/base/result.h"

namespace forebay {

/// The most that may have to be decoded to read one block; a compressed file with a longer way
/// between two restart points is read from a decompressed copy.
inline constexpr std::uint64_t kLongestSpan = 8 << 20;

/// Gives every compressed file that needs it a decompressed copy in `folder`, and with
/// random_access every other one too as long as there is room: a shuffled read inflates about a
/// hundred times what it uses. Copies that are there already are taken. Announces what it does;
/// kOverloaded names run.spill, or the disk, and what is needed.
Status spill_files(std::vector<IndexedFile>& files, SpillFolder& folder,
                   const DatasetOptions& options);

}  // namespace forebay
