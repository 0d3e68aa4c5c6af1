#include "actors/format/criteo/line_scanner.h"

#include <cstring>
#include <string>

#include "actors/source/index/block_builder.h"

namespace forebay {

Status LineScanner::scan(std::span<const char> piece, BlockBuilder& blocks) {
  const char* at = piece.data();
  const char* const last = at + piece.size();
  const std::uint64_t piece_start = end_;
  while (at < last) {
    const void* newline = std::memchr(at, '\n', static_cast<std::size_t>(last - at));
    if (newline == nullptr) break;
    at = static_cast<const char*>(newline) + 1;
    const std::uint64_t next = piece_start + static_cast<std::uint64_t>(at - piece.data());
    if (next - 1 - row_start_ > max_row_bytes_) return too_long();
    blocks.add_row(row_start_, row_line_);
    row_start_ = next;
    ++row_line_;
  }
  end_ += piece.size();
  if (end_ - row_start_ > max_row_bytes_) return too_long();
  return {};
}

Status LineScanner::finish(BlockBuilder& blocks) {
  if (end_ > row_start_) blocks.add_row(row_start_, row_line_);
  return {};
}

Status LineScanner::too_long() const {
  return fail(Code::kCorrupt, "row at byte " + std::to_string(row_start_) + ", line " +
                                  std::to_string(row_line_) + ", is longer than " +
                                  std::to_string(max_row_bytes_) +
                                  " bytes (dataset.max_row_bytes); is the file a TSV of clicks?");
}

}  // namespace forebay
