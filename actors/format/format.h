#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "actors/dataset_spec.h"
#include "actors/format/bad_row.h"
#include "actors/format/raw_split.h"
#include "actors/row_filter.h"
#include "core/base/result.h"
#include "core/data/column_set.h"
#include "core/data/schema.h"

namespace forebay {

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

class TextFormat;
class UnitFormat;

/// The format of the rows of one dataset. Immutable; any thread may decode. Derived from TextFormat
/// or UnitFormat, which say how files are cut into blocks.
class Format {
 public:
  virtual ~Format() = default;
  virtual const Schema& schema() const = 0;
  /// Parses a split. Never fails because of the content of rows: damaged rows are returned in the
  /// result, and so is a difference between the number of rows and the index's.
  virtual Decoded decode(const RawSplit& raw, const DecodeOptions& options,
                         BufferPool& pool) const = 0;
  /// The most bytes that a split of `rows` rows in `raw_bytes` bytes takes once decoded.
  virtual std::size_t decoded_bytes(std::size_t rows, std::size_t raw_bytes) const = 0;
  /// Returns a text of all settings of the job that decide where blocks start and, in a format with
  /// units of its own, whether a file fits the dataset. A file whose index was made with another
  /// text is indexed anew.
  virtual std::string index_settings() const = 0;

  /// Exactly one of the two returns this object, the other returns nullptr.
  virtual const TextFormat* text() const { return nullptr; }
  virtual const UnitFormat* units() const { return nullptr; }
};

}  // namespace forebay
