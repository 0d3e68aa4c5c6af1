#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actors/source/index/block_builder.h"

namespace forebay {

/// Fills in Block::check while a file is scanned: the CRC-32C of all content before the block. The
/// checksum of any run of blocks follows from the values at its two ends, and merging blocks does
/// not change the values of the blocks that remain.
///
/// A scanner may report a row only after it has seen the row's end. This class therefore keeps the
/// content from the start of the last reported row on: at most a row and a piece. Used by one
/// thread.
class BlockChecks {
 public:
  /// Must be called after each piece that was scanned into `builder`.
  void scanned(std::span<const char> piece, BlockBuilder& builder);

  /// Must be called after the scan's end. Returns the checksum of the whole content.
  std::uint32_t finish(BlockBuilder& builder);

 private:
  void fill(BlockBuilder& builder);
  void advance(std::uint64_t offset);

  std::vector<char> pending_;  // content; the byte at used_ has the offset at_
  std::size_t used_ = 0;
  std::uint64_t at_ = 0;         // end of the content that check_ covers
  std::uint64_t first_new_ = 0;  // blocks from this offset on have no check yet
  std::uint32_t check_ = 0;      // checksum of the content before at_
};

}  // namespace forebay
