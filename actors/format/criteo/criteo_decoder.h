#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "actors/format/column_choice.h"
#include "actors/format/column_fill.h"
#include "actors/format/criteo/criteo_kernel.h"
#include "actors/format/criteo/criteo_row.h"
#include "actors/format/format.h"
#include "actors/format/raw_split.h"

namespace forebay {

/// Decodes one split: gives groups of rows to the kernel and decodes the rows that the kernel
/// refuses one by one. Borrows everything; used once.
class CriteoDecoder {
 public:
  CriteoDecoder(const RawSplit& raw, const DecodeOptions& options, const ColumnChoice& choice,
                const CriteoKernel& kernel, ColumnFill& fill);

  /// Appends the sound rows to the fill, reports the damaged rows and counts the filtered rows.
  void run(Decoded& decoded);

 private:
  void decode_group(Decoded& decoded);
  void decode_row(Decoded& decoded);
  std::uint32_t pick(std::size_t rows) const;
  void append_origins(std::size_t rows, std::uint32_t picked);
  void append_row();

  const std::string_view text_;
  const DecodeOptions& options_;
  const ColumnChoice& choice_;
  const CriteoKernel& kernel_;
  ColumnFill& fill_;
  CriteoTarget target_;
  BlockCursor cursor_;
  CriteoGroup group_;
  CriteoRow row_;
  std::size_t at_ = 0;          // Of the row to decode next.
  std::size_t rows_seen_ = 0;   // Never above the fill's capacity.
  std::size_t one_by_one_ = 0;  // Rows to decode without calling the kernel.
};

}  // namespace forebay
