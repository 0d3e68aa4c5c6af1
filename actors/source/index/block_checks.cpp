#include "actors/source/index/block_checks.h"

#include "core/base/crc32c.h"

namespace forebay {

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
