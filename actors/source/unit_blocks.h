#pragma once

#include <cstddef>
#include <memory>

#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "actors/source/index/file_index.h"
#include "core/base/result.h"

namespace forebay {

/// The most units of one file; the limit bounds the memory of an index.
inline constexpr std::size_t kMostUnits = std::size_t{1} << 20;

/// Makes the index of a file whose format has units of its own, from its metadata. kCorrupt, naming
/// the file, for units whose numbers cannot be right. Leaves path, settings and agreement unset.
Result<FileIndex> index_units(const InputFile& file, const UnitFormat& format);

/// Opens a file to load its units. kCorrupt when its metadata are not those of `index`.
Result<std::unique_ptr<BlockSource>> open_units(std::unique_ptr<const InputFile> file,
                                                const UnitFormat& format, const FileIndex& index);

}  // namespace forebay
