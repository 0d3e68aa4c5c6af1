#pragma once

#include <span>
#include <string>

#include "actors/format/raw_split.h"
#include "actors/source/dataset.h"
#include "core/base/error.h"
#include "core/data/buffer_pool.h"

namespace forebay {

/// Describes a block whose bytes fail the index's checksum, as a disk or a copying program that
/// keeps size and time may leave it. `bytes` came from the file at `read_from`.
///
/// Names the file, the block's rows and bytes, and the first row among them that cannot be read
/// now, if there is one: what the rows were before is not known. kCorrupt.
Error changed_block(const Dataset& dataset, const BlockRef& block, std::span<const char> bytes,
                    const std::string& read_from, BufferPool& pool);

/// Describes a split in which the decoder found other rows than the index, though the checksums of
/// its bytes are right. kCorrupt.
Error miscounted_split(const Dataset& dataset, const BadRow& where);

}  // namespace forebay
