#include "actors/format/csv/csv_row.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "actors/source/index/block_builder.h"

namespace forebay {
namespace {

/// The field without the carriage return before its row's newline.
std::string_view without_return(const char* first, const char* newline) {
  if (newline > first && newline[-1] == '\r') --newline;
  return {first, static_cast<std::size_t>(newline - first)};
}

constexpr std::array<char, 3> kByteOrderMark{'\xEF', '\xBB', '\xBF'};

}  // namespace

std::size_t CsvRow::blank_line(std::string_view text) {
  if (text.starts_with('\n')) return 1;
  return text.starts_with("\r\n") ? 2 : 0;
}

std::size_t CsvRow::read(std::string_view text) {
  num_fields_ = 0;
  damage_ = {};
  const char* field = text.data();
  for (std::size_t at = 0; at < text.size(); at += CsvBytes::kStep) {
    std::uint64_t marks = bytes_.field_marks(text.data() + at);
    const std::size_t left = text.size() - at;
    if (left < CsvBytes::kStep) marks &= (std::uint64_t{1} << left) - 1;
    for (; marks != 0; marks &= marks - 1) {
      const char* mark = text.data() + at + std::countr_zero(marks);
      if (*mark == delimiter_) {
        add({field, static_cast<std::size_t>(mark - field)});
        field = mark + 1;
      } else if (*mark == '\n') {
        add(without_return(field, mark));
        return static_cast<std::size_t>(mark + 1 - text.data());
      } else {
        return read_odd(text);
      }
    }
  }
  return read_odd(text);
}

/// Reads a row that contains quotes or NULs, or has no newline.
std::size_t CsvRow::read_odd(std::string_view text) {
  num_fields_ = 0;
  unescaped_.clear();
  unescaped_.reserve(text.size());  // So that views of it stay valid while it grows.
  std::size_t at = read_field(text, 0);
  while (at < text.size() && text[at] == delimiter_) at = read_field(text, at + 1);
  return std::min(at + 1, text.size());
}

/// Reads the field that starts at `at`; returns the index of its delimiter or newline.
std::size_t CsvRow::read_field(std::string_view text, std::size_t at) {
  const bool quoted = at < text.size() && text[at] == '"';
  const std::size_t rest = quoted ? read_quoted(text, at) : at;
  std::size_t end = rest;
  while (end < text.size() && text[end] != delimiter_ && text[end] != '\n') ++end;
  std::string_view plain = text.substr(rest, end - rest);
  if (end < text.size() && text[end] == '\n') {
    plain = without_return(text.data() + rest, text.data() + end);
  }
  if (!quoted) {
    add(plain);
  } else if (!plain.empty()) {
    complain("has text after its closing quote");
  }
  if (std::memchr(text.data() + at, 0, end - at) != nullptr) complain("has a NUL byte");
  return end;
}

/// Reads from the opening quote; returns the index of the byte after the closing quote.
std::size_t CsvRow::read_quoted(std::string_view text, std::size_t at) {
  const std::size_t kept = unescaped_.size();
  std::size_t begin = at + 1;
  while (true) {
    const std::size_t quote = text.find('"', begin);
    if (quote == std::string_view::npos) {
      add({});
      complain("has a quote that is never closed");
      return text.size();
    }
    const bool pair = quote + 1 < text.size() && text[quote + 1] == '"';
    if (!pair && unescaped_.size() == kept) {
      add(text.substr(begin, quote - begin));
      return quote + 1;
    }
    unescaped_.append(text, begin, quote + (pair ? 1 : 0) - begin);
    begin = quote + (pair ? 2 : 1);
    if (!pair) break;
  }
  add(std::string_view(unescaped_).substr(kept));
  return begin;
}

void CsvRow::complain(const char* what) {
  if (damage_.what == nullptr) damage_ = {what, num_fields_ - 1};
}

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

void CsvScanner::finish(BlockBuilder& blocks) {
  if (piece_ <= row_start_) return;
  const bool blank = piece_ - row_start_ == 1 && previous_ == '\r';
  if (!blank && !header_due_) blocks.add_row(row_start_, row_line_);
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
