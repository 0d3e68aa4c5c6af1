#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "actors/dataset_spec.h"
#include "actors/format/raw_split.h"
#include "actors/row_filter.h"
#include "core/base/result.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

namespace forebay {

/// Cuts a byte stream into slots of a power-of-two size and keeps, for each slot in which a row
/// starts, one block: the rows that start there. Grows coarser (slots double, blocks merge) by
/// itself when there are too many, so the result for a given final slot size does not depend on
/// how it was reached. See actors/source/block_builder.h.
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

struct DecodeOptions {
  RowFilter filter;
  bool keep_origins = false;  ///< Fill ColumnSet::origins (sampling and UDF errors need them).
};

/// What decoding a split gave. Every row the index counted is in exactly one of the first three.
struct Decoded {
  ColumnSet columns;           ///< The rows that go on, in file order, in the format's schema.
  std::vector<BadRow> bad;     ///< Damaged rows, in file order.
  std::uint64_t filtered = 0;  ///< Sound rows that the filter kept back.
  /// Where the decoder found more or fewer rows than were indexed; then the split must not be used.
  std::optional<BadRow> miscounted = std::nullopt;
};

/// How the rows of one dataset are written. Immutable; any thread may decode.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Schema& schema() const = 0;
  /// A scanner for a file from its first byte (BOM and header included).
  virtual std::unique_ptr<RowScanner> scanner() const = 0;
  /// Refuses a file whose start does not fit the dataset's first one (another CSV header):
  /// `head` holds at least its first max_row_bytes bytes, or all of it.
  virtual Status accepts(std::span<const char> head) const = 0;
  /// Parses a split. Never fails for what the rows hold: damaged rows are returned, not thrown, and
  /// so is a split whose number of rows is not the index's.
  virtual Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                         BufferPool& pool) const = 0;
  /// The most bytes that a split of `rows` rows in `raw_bytes` bytes takes once decoded.
  virtual std::size_t decoded_bytes(std::size_t rows, std::size_t raw_bytes) const = 0;
};

/// Opens the format that `dataset` names, resolving `columns` against the dataset's first file, of
/// which `head` holds at least the first max_row_bytes bytes, or all of it. Fails with kInvalid,
/// naming the key, for an unknown format, a column or glob that matches nothing, a column used
/// twice, a header with a wanted name twice, or a missing label.
Result<std::unique_ptr<Format>> open_format(const DatasetSpec& dataset, const ColumnSpec& columns,
                                            std::span<const char> head);

}  // namespace forebay
