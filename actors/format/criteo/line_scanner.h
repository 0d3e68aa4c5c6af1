#pragma once

#include <cstdint>

#include "actors/format/text_format.h"

namespace forebay {

/// Finds rows that are lines: every newline ends a row, and an empty line is a row too.
class LineScanner final : public RowScanner {
 public:
  explicit LineScanner(std::uint64_t max_row_bytes) : max_row_bytes_(max_row_bytes) {}

  Status scan(std::span<const char> piece, BlockBuilder& blocks) override;
  Status finish(BlockBuilder& blocks) override;

 private:
  Status too_long() const;

  const std::uint64_t max_row_bytes_;
  std::uint64_t row_start_ = 0;  // Of the row being scanned.
  std::uint64_t row_line_ = 1;
  std::uint64_t end_ = 0;  // Of the bytes seen.
};

}  // namespace forebay
