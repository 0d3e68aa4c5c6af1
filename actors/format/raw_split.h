#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/data/buffer_pool.h"

namespace forebay {

/// The location of a run of whole rows in the dataset. Offsets are those of the decompressed file.
struct BlockRef {
  std::uint32_t file = 0;
  std::uint32_t rows =
      0;  ///< As the index counted them; damaged rows included, blank CSV lines not.
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t line = 0;          ///< Number of its first line in the file, from 1.
  std::uint32_t check_before = 0;  ///< CRC-32C of the file's content up to the block.
  std::uint32_t check_after = 0;   ///< CRC-32C of the file's content up to the end of the block.
};

/// The undecoded bytes of a split: its blocks back to back, filling `bytes`.
///
/// Each block ends in '\n'. If the last row of a file has no newline, the loader has added one; the
/// block's size in `sizes` includes it and BlockRef::bytes does not.
struct RawSplit {
  Buffer bytes;
  std::vector<BlockRef> blocks;
  std::vector<std::size_t> sizes;  ///< Bytes of each block in `bytes`.
};

/// A row that could not be read, as the quarantine file names it.
struct BadRow {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;  ///< Of its first byte in the decompressed file.
  std::uint64_t line = 0;    ///< From 1.
  std::string reason;        ///< E.g. `column I3: "x" is not an integer`.
  std::string text;          ///< At most kMaxText bytes of the row, unchanged.

  static constexpr std::size_t kMaxText = 256;
};

}  // namespace forebay
