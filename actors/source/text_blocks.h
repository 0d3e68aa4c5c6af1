#pragma once

#include <span>
#include <string>

#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "core/base/error.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Describes a block whose bytes fail the index's checksum: a disk or a copying program may change
/// the bytes and keep size and time. `bytes` were read from the file `read_from`.
///
/// Names the file, the block's rows and bytes, and the first row in it that cannot be read now, if
/// there is one; the original content of the rows is not known. kCorrupt.
Error changed_block(const Dataset& dataset, const BlockRef& block, std::span<const char> bytes,
                    const std::string& read_from, BufferPool& pool);

/// Describes a split in which the decoder found other rows than the index, although the checksums
/// of its bytes are right. kCorrupt.
Error miscounted_split(const Dataset& dataset, const BadRow& where);

}  // namespace forebay
