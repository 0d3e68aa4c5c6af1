#include "actors/format/csv/csv_scanner.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "actors/format/csv/csv_bytes.h"
#include "actors/source/index/block_builder.h"

namespace forebay {
namespace {

constexpr std::array<char, 3> kByteOrderMark{'\xEF', '\xBB', '\xBF'};

}  // namespace

Status CsvScanner::scan(std::span<const char> piece, BlockBuilder& blocks) {
  if (piece.empty()) return {};
  skip_byte_order_mark(piece);
  if (state_ == State::kQuoteInQuoted) {
    // The previous piece ended in a quote; this piece's first byte shows whether that quote closes.
    if (piece[0] != '"') state_ = State::kPlain;
  }
  std::size_t at = 0;
  for (; at + CsvBytes::kStep <= piece.size(); at += CsvBytes::kStep) {
    const std::uint64_t marks = CsvBytes::line_marks(piece.data() + at);
    if (auto status = scan_marks(piece, at, marks, blocks); !status) return status;
  }
  if (at < piece.size()) {
    std::array<char, CsvBytes::kStep> rest{};
    std::memcpy(rest.data(), piece.data() + at, piece.size() - at);
    const std::uint64_t marks = CsvBytes::line_marks(rest.data());
    if (auto status = scan_marks(piece, at, marks, blocks); !status) return status;
  }
  previous_ = piece.back();
  piece_ += piece.size();
  if (piece_ - std::min(piece_, row_start_) > options_.max_row_bytes) return too_long();
  return {};
}

Status CsvScanner::scan_marks(std::span<const char> piece, std::size_t at, std::uint64_t marks,
                              BlockBuilder& blocks) {
  for (; marks != 0; marks &= marks - 1) {
    const std::size_t i = at + static_cast<std::size_t>(std::countr_zero(marks));
    const char before = i > 0 ? piece[i - 1] : previous_;
    if (piece[i] == '\n') {
      ++line_;
      if (state_ != State::kPlain) continue;
      if (auto status = end_row(piece_ + i, before == '\r', blocks); !status) return status;
    } else if (state_ == State::kPlain) {
      const bool opens = piece_ + i == row_start_ || before == options_.delimiter;
      if (opens) state_ = State::kQuoted;
    } else if (state_ == State::kQuoteInQuoted) {
      state_ = State::kQuoted;  // The second quote of a pair.
    } else if (i + 1 == piece.size() || piece[i + 1] == '"') {
      state_ = State::kQuoteInQuoted;
    } else {
      state_ = State::kPlain;
    }
  }
  return {};
}

Status CsvScanner::end_row(std::uint64_t newline, bool after_return, BlockBuilder& blocks) {
  const std::uint64_t bytes = newline - row_start_;
  if (bytes > options_.max_row_bytes) return too_long();
  const bool blank = bytes == 0 || (bytes == 1 && after_return);
  if (!blank && !header_due_) blocks.add_row(row_start_, row_line_);
  if (!blank) header_due_ = false;
  row_start_ = newline + 1;
  row_line_ = line_;
  return {};
}

Status CsvScanner::finish(BlockBuilder& blocks) {
  if (piece_ <= row_start_) return {};
  const bool blank = piece_ - row_start_ == 1 && previous_ == '\r';
  if (!blank && !header_due_) blocks.add_row(row_start_, row_line_);
  return {};
}

void CsvScanner::skip_byte_order_mark(std::span<const char> piece) {
  for (std::size_t i = 0; i < piece.size() && mark_bytes_ < kByteOrderMark.size(); ++i) {
    if (piece_ + i != mark_bytes_ || piece[i] != kByteOrderMark[mark_bytes_]) return;
    if (++mark_bytes_ == kByteOrderMark.size()) row_start_ = kByteOrderMark.size();
  }
}

Status CsvScanner::too_long() const {
  std::string message = "row at byte " + std::to_string(row_start_) + ", line " +
                        std::to_string(row_line_) + ", is longer than " +
                        std::to_string(options_.max_row_bytes) + " bytes (dataset.max_row_bytes)";
  const bool quoted_newlines = state_ != State::kPlain || line_ > row_line_ + 1;
  if (quoted_newlines) message += "; a quote that is not closed is the likely cause";
  return fail(Code::kCorrupt, message);
}

}  // namespace forebay
