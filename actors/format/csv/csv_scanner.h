#pragma once

#include <cstdint>

#include "actors/format/text_format.h"

namespace forebay {

/// Finds the rows of a CSV file: the text between two newlines that are not inside quotes. Skips
/// the byte order mark, blank lines, and the header if there is one.
///
/// A quote opens a quoted field only as the first byte of the field; elsewhere it is an ordinary
/// character. CsvRow uses the same rule, so both always agree on where a row ends.
class CsvScanner final : public RowScanner {
 public:
  struct Options {
    char delimiter = ',';
    bool header = true;
    std::uint64_t max_row_bytes = 0;
  };

  explicit CsvScanner(Options options) : options_(options), header_due_(options.header) {}

  Status scan(std::span<const char> piece, BlockBuilder& blocks) override;
  Status finish(BlockBuilder& blocks) override;

 private:
  enum class State : std::uint8_t { kPlain, kQuoted, kQuoteInQuoted };

  void skip_byte_order_mark(std::span<const char> piece);
  Status scan_marks(std::span<const char> piece, std::size_t at, std::uint64_t marks,
                    BlockBuilder& blocks);
  Status end_row(std::uint64_t newline, bool after_return, BlockBuilder& blocks);
  Status too_long() const;

  const Options options_;
  bool header_due_;
  State state_ = State::kPlain;
  char previous_ = '\n';         // The byte before the piece; '\n' at the start of the file.
  unsigned mark_bytes_ = 0;      // Bytes of the byte order mark seen.
  std::uint64_t piece_ = 0;      // Offset of the piece in the file.
  std::uint64_t row_start_ = 0;  // Of the row being scanned.
  std::uint64_t row_line_ = 1;
  std::uint64_t line_ = 1;
};

}  // namespace forebay
