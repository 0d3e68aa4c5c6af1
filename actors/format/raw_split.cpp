#include "actors/format/raw_split.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/text/printable.h"

namespace forebay {

Extent Extent::of(const std::vector<BlockRef>& blocks) {
  Extent extent;
  for (const BlockRef& block : blocks) extent.add(block);
  return extent;
}

void Extent::add(const Extent& other) {
  rows += other.rows;
  bytes += other.bytes;
  decoded += other.decoded;
}

void Extent::raise_to(const Extent& other) {
  rows = std::max(rows, other.rows);
  bytes = std::max(bytes, other.bytes);
  decoded = std::max(decoded, other.decoded);
}

std::string line_of(const BadRow& row) {
  const std::string line = std::to_string(row.line);
  return row.group ? "row group " + std::to_string(*row.group) + ", row " + line : line;
}

std::string place_of(const BadRow& row) {
  if (row.group) return line_of(row);
  return "line " + line_of(row) + " (byte " + std::to_string(row.offset) + ")";
}

BlockCursor::BlockCursor(const RawSplit& raw) : raw_(raw) {
  FOREBAY_CHECK(raw.sizes.size() == raw.blocks.size());
  if (!raw.sizes.empty()) end_ = raw.sizes[0];
}

void BlockCursor::step() {
  ++block_;
  begin_ = end_;
  end_ += raw_.sizes[block_];
}

BadRow BlockCursor::bad_row(std::size_t at, std::size_t size, std::string reason) {
  seek(at);
  FOREBAY_CHECK(at >= begin_);
  const char* bytes = raw_.bytes.as<const char>();
  const auto newlines = std::count(bytes + begin_, bytes + at, '\n');
  return {.file = file(),
          .offset = offset(at),
          .line = raw_.blocks[block_].line + static_cast<std::uint64_t>(newlines),
          .reason = std::move(reason),
          .text = std::string(bytes + at, std::min(size, BadRow::kMaxText))};
}

std::string quoted_text(std::string_view text) {
  static constexpr std::size_t kMost = 40;
  return '"' + printable_field(text.substr(0, kMost)) + (text.size() > kMost ? "…\"" : "\"");
}

}  // namespace forebay
