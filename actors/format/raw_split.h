#pragma once

#include <cstdint>
#include <vector>

#include "core/data/buffer_pool.h"

namespace forebay {

/// A block, the smallest part of a dataset that the order moves: a run of whole rows of one file.
///
/// In text, a range of bytes of the decompressed file. In a format with units of its own
/// (unit_format.h), a unit.
struct BlockRef {
  std::uint32_t file = 0;
  std::uint32_t rows =
      0;  ///< As the index counted them; damaged rows included, blank CSV lines not.
  std::uint64_t offset = 0;        ///< Text: of its first byte. Unit: number of its first row.
  std::uint64_t bytes = 0;         ///< Text: its size. Unit: the most that it takes when loaded.
  std::uint64_t line = 0;          ///< Text: number of its first line, from 1. Unit: its number.
  std::uint32_t check_before = 0;  ///< Text: CRC-32C of the file's content up to the block.
  std::uint32_t check_after = 0;   ///< Text: CRC-32C of the content up to the end of the block.

  /// The most bytes that the block takes when loaded: a newline may be added to text.
  std::uint64_t loaded_bytes() const { return bytes + 1; }
};

/// The undecoded bytes of a split: its blocks back to back, filling `bytes`.
///
/// Each block of text ends in '\n'. If the last row of a file has no newline, the loader has added
/// one; the block's size in `sizes` includes it and BlockRef::bytes does not.
struct RawSplit {
  Buffer bytes;
  std::vector<BlockRef> blocks;
  std::vector<std::size_t> sizes;  ///< Bytes of each block in `bytes`.
};

}  // namespace forebay
