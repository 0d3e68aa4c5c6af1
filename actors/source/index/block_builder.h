#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "actors/source/index/slot_rule.h"
#include "core/base/check.h"

namespace forebay {

/// The rows of one file that start in one slot. A block's bytes end where the next block starts;
/// the last block ends at the end of the file.
struct Block {
  std::uint64_t offset = 0;  ///< Of the block's first row in the decompressed file.
  std::uint64_t line = 0;    ///< Number of the block's first line, from 1.
  std::uint32_t rows = 0;
  std::uint32_t check = 0;  ///< CRC-32C of the file's content before the block (block_checks.h).

  bool operator==(const Block&) const = default;
};

/// Groups a file's rows into blocks: the rows that start in the same aligned slot form one block.
///
/// Owns the blocks of one file; used by one thread. When the number of blocks exceeds
/// slot_rule::most_blocks, the builder doubles the slot size and merges blocks, so its memory is
/// bounded. The blocks at a given slot size do not depend on the steps that led to it.
class BlockBuilder {
 public:
  /// `slot_bytes` is a power of two.
  explicit BlockBuilder(std::uint64_t slot_bytes = slot_rule::kFinest)
      : shift_(std::countr_zero(slot_bytes)) {
    FOREBAY_CHECK(std::has_single_bit(slot_bytes));
  }
  /// Continues with `blocks`, which were built with `slot_bytes`.
  BlockBuilder(std::uint64_t slot_bytes, std::vector<Block> blocks);

  /// Adds the row that starts at `offset`, on line `line`; offsets must increase between calls.
  void add_row(std::uint64_t offset, std::uint64_t line) {
    ++rows_;
    last_row_ = offset;
    if (offset < slot_end_) {
      ++blocks_.back().rows;
    } else {
      start_block(offset, line);
    }
  }

  /// Merges blocks to slots of `slot_bytes`, a power of two. No effect if slots are already that
  /// large.
  void coarsen(std::uint64_t slot_bytes);

  std::uint64_t slot_bytes() const { return std::uint64_t{1} << shift_; }
  std::uint64_t rows() const { return rows_; }
  /// Returns the offset of the row added last.
  std::uint64_t last_row() const { return last_row_; }
  /// Returns the blocks that start at `offset` or after it.
  std::span<Block> from(std::uint64_t offset);
  const std::vector<Block>& blocks() const { return blocks_; }
  std::vector<Block> take() && { return std::move(blocks_); }

 private:
  void start_block(std::uint64_t offset, std::uint64_t line);
  void end_slot_of_last();

  int shift_;
  std::uint64_t slot_end_ = 0;  // end of the last block's slot
  std::uint64_t rows_ = 0;
  std::uint64_t last_row_ = 0;
  std::vector<Block> blocks_;
};

}  // namespace forebay
