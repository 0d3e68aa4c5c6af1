#include "actors/source/index/block_builder.h"

#include <algorithm>

#include "core/base/crc32c.h"

namespace forebay {

BlockBuilder::BlockBuilder(std::uint64_t slot_bytes, std::vector<Block> blocks)
    : BlockBuilder(slot_bytes) {
  blocks_ = std::move(blocks);
  for (const Block& block : blocks_) rows_ += block.rows;
  if (!blocks_.empty()) end_slot_of_last();
}

void BlockBuilder::start_block(std::uint64_t offset, std::uint64_t line) {
  blocks_.push_back({.offset = offset, .line = line, .rows = 1});
  while (blocks_.size() > slot_rule::most_blocks(slot_bytes()) &&
         slot_bytes() < slot_rule::kCoarsest) {
    coarsen(2 * slot_bytes());
  }
  end_slot_of_last();
}

std::span<Block> BlockBuilder::from(std::uint64_t offset) {
  const auto first =
      std::lower_bound(blocks_.begin(), blocks_.end(), offset,
                       [](const Block& block, std::uint64_t at) { return block.offset < at; });
  return {first, blocks_.end()};
}

void BlockBuilder::coarsen(std::uint64_t slot_bytes) {
  FOREBAY_CHECK(std::has_single_bit(slot_bytes));
  const int shift = std::countr_zero(slot_bytes);
  if (shift <= shift_) return;
  shift_ = shift;
  if (blocks_.empty()) return;
  std::size_t kept = 0;
  for (std::size_t i = 1; i < blocks_.size(); ++i) {
    if (blocks_[i].offset >> shift_ == blocks_[kept].offset >> shift_) {
      blocks_[kept].rows += blocks_[i].rows;
    } else {
      blocks_[++kept] = blocks_[i];
    }
  }
  blocks_.resize(kept + 1);
  end_slot_of_last();
}

void BlockBuilder::end_slot_of_last() {
  slot_end_ = ((blocks_.back().offset >> shift_) + 1) << shift_;
}

// Advances the checksum to `offset` over the pending content.
void BlockChecks::advance(std::uint64_t offset) {
  const auto bytes = static_cast<std::size_t>(offset - at_);
  check_ = crc32c(std::span<const char>(pending_).subspan(used_, bytes), check_);
  used_ += bytes;
  at_ = offset;
}

void BlockChecks::fill(BlockBuilder& builder) {
  if (builder.rows() == 0) return;
  for (Block& block : builder.from(first_new_)) {
    advance(block.offset);
    block.check = check_;
  }
  advance(builder.last_row());
  first_new_ = at_ + 1;
  pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(used_));
  used_ = 0;
}

void BlockChecks::scanned(std::span<const char> piece, BlockBuilder& builder) {
  pending_.insert(pending_.end(), piece.begin(), piece.end());
  fill(builder);
}

std::uint32_t BlockChecks::finish(BlockBuilder& builder) {
  fill(builder);
  advance(at_ + pending_.size() - used_);
  return check_;
}

}  // namespace forebay
