#pragma once

#include <memory>
#include <span>

#include "actors/format/format.h"
#include "core/base/result.h"

namespace forebay {

/// Cuts a byte stream into slots of a power-of-two size. For each slot in which a row starts it
/// keeps one block: the rows that start there. When there are too many blocks it becomes coarser
/// (slots double, blocks merge), so the result depends on the final slot size only. See
/// actors/source/index/block_builder.h.
class BlockBuilder;

/// Finds where rows start in a file's bytes, handed over piece by piece in order.
class RowScanner {
 public:
  virtual ~RowScanner() = default;
  /// Reports each row start in `piece` to `blocks`. kCorrupt names the byte offset and the line of
  /// a row longer than the format's `max_row_bytes`.
  virtual Status scan(std::span<const char> piece, BlockBuilder& blocks) = 0;
  /// Ends the file; a last row without a newline counts.
  virtual Status finish(BlockBuilder& blocks) = 0;
};

/// A format of rows in a stream of bytes. Its files may be compressed; a scanner finds the rows in
/// the decompressed bytes, and the rows that start in one slot are a block.
class TextFormat : public Format {
 public:
  const TextFormat* text() const final { return this; }
  /// Returns a scanner for a file from its first byte (BOM and header included).
  virtual std::unique_ptr<RowScanner> scanner() const = 0;
  /// Returns an error for a file whose start does not fit the dataset's first file (another CSV
  /// header). `head` holds at least its first max_row_bytes bytes, or all of it.
  virtual Status accepts(std::span<const char> head) const = 0;
};

}  // namespace forebay
