#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"

namespace forebay {

/// The slot rule of DESIGN.md, "The order is a function": the slot size of a dataset, as a function
/// of its content alone.
namespace slot_rule {

inline constexpr std::uint64_t kFinest = 256;          ///< Bytes.
inline constexpr std::uint64_t kBySize = 16 << 10;     ///< The largest for the bytes alone.
inline constexpr std::uint64_t kWideRow = 512;         ///< Bytes.
inline constexpr std::uint64_t kCoarsest = 256 << 10;  ///< The largest slot of any dataset.
inline constexpr std::uint64_t kSlotsWanted = 1600;
inline constexpr std::size_t kMostBlocks = 1 << 20;  ///< Of a dataset, except at kCoarsest.

/// Returns the largest power of two ≤ bytes / 1600, clamped to kFinest … kBySize.
constexpr std::uint64_t slot_for(std::uint64_t bytes) {
  const std::uint64_t wanted = std::bit_floor(bytes / kSlotsWanted);
  return wanted < kFinest ? kFinest : wanted > kBySize ? kBySize : wanted;
}

/// Returns the slot of a dataset of `bytes` and `rows`. Twice kBySize where rows are wider than
/// kWideRow in the mean, so that neighbours that repeat their values are in one block more often;
/// more would leave too few blocks in a split to mix well.
constexpr std::uint64_t slot_for(std::uint64_t bytes, std::uint64_t rows) {
  const std::uint64_t slot = slot_for(bytes);
  return slot == kBySize && bytes / kWideRow > rows ? 2 * slot : slot;
}

/// Returns the number of blocks at `slot` above which any dataset that contains the file has
/// coarser slots: n blocks start in n slots, so the file has more than (n - 1) · slot bytes, and
/// 2¹⁷ · slot / 1600 > 2 · slot.
constexpr std::size_t most_blocks(std::uint64_t slot) {
  return slot < kBySize ? std::size_t{1} << 17 : kMostBlocks;
}

}  // namespace slot_rule

/// The rows of one file that start in one slot. A block's bytes end where the next block starts;
/// the last block ends at the end of the file.
struct Block {
  std::uint64_t offset = 0;  ///< Of the block's first row in the decompressed file.
  std::uint64_t line = 0;    ///< Number of the block's first line, from 1.
  std::uint32_t rows = 0;
  std::uint32_t check = 0;  ///< CRC-32C of the file's content before the block (BlockChecks).

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
