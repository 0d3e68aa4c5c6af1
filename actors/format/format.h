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

/// Cuts a byte stream into slots of a power-of-two size. For each slot in which a row starts it
/// keeps one block: the rows that start there. When there are too many blocks it becomes coarser
/// (slots double, blocks merge), so the result depends on the final slot size only. See
/// actors/source/block_builder.h.
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

/// The result of decoding a split. Every row that the index counted is in exactly one of the first
/// three members.
struct Decoded {
  ColumnSet columns;  ///< The rows that the filter keeps, in file order, in the format's schema.
  std::vector<BadRow> bad;     ///< Damaged rows, in file order.
  std::uint64_t filtered = 0;  ///< Sound rows that the filter removed.
  /// Where the decoder found more or fewer rows than the index counted; the split must not be used
  /// then.
  std::optional<BadRow> miscounted = std::nullopt;
};

/// The format of the rows of one dataset. Immutable; any thread may decode.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Schema& schema() const = 0;
  /// A scanner for a file from its first byte (BOM and header included).
  virtual std::unique_ptr<RowScanner> scanner() const = 0;
  /// Returns an error for a file whose start does not fit the dataset's first file (another CSV
  /// header). `head` holds at least its first max_row_bytes bytes, or all of it.
  virtual Status accepts(std::span<const char> head) const = 0;
  /// Parses a split. Never fails because of the content of rows: damaged rows are returned in the
  /// result, and so is a difference between the number of rows and the index's.
  virtual Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                         BufferPool& pool) const = 0;
  /// The most bytes that a split of `rows` rows in `raw_bytes` bytes takes once decoded.
  virtual std::size_t decoded_bytes(std::size_t rows, std::size_t raw_bytes) const = 0;
};

/// Opens the format that `dataset` names and resolves `columns` against the dataset's first file;
/// `head` holds at least that file's first max_row_bytes bytes, or all of it. Returns kInvalid,
/// naming the key, for an unknown format, a column or glob that matches nothing, a column used
/// twice, a header that has a wanted name twice, or a missing label.
Result<std::unique_ptr<Format>> open_format(const DatasetSpec& dataset, const ColumnSpec& columns,
                                            std::span<const char> head);

}  // namespace forebay
