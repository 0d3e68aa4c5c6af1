#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actors/source/block_builder.h"

namespace forebay {

/// Fills in Block::check while a file is scanned: the CRC-32C of all content before the block. So
/// the check of any run of blocks follows from its two ends, and merging blocks changes none.
///
/// A scanner may report where a row starts only when it has seen its end, so what follows the last
/// row that was reported is kept: at most a row and a piece. Used by one thread.
class BlockChecks {
 public:
  /// After each piece was scanned into `builder`.
  void scanned(std::span<const char> piece, BlockBuilder& builder);

  /// After the scan's end: the checksum of the whole content.
  std::uint32_t finish(BlockBuilder& builder);

 private:
  void fill(BlockBuilder& builder);
  void advance(std::uint64_t offset);

  std::vector<char> pending_;  // content, from used_ on that from at_ on
  std::size_t used_ = 0;
  std::uint64_t at_ = 0;         // offset that check_ has reached
  std::uint64_t first_new_ = 0;  // blocks from here on have no check yet
  std::uint32_t check_ = 0;      // of what lies before at_
};

}  // namespace forebay
