#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "actors/format/block_source.h"
#include "actors/format/format.h"
#include "actors/input/file_system.h"
#include "core/base/result.h"
#include "core/data/digest.h"

namespace forebay {

/// What a format with units of its own reads and decodes at once, such as a row group or a range of
/// its pages. A unit is one block of the order.
struct Unit {
  std::uint64_t bytes = 0;      ///< The most bytes that BlockSource::load() fills for it.
  std::uint64_t first_row = 0;  ///< Its number in the file; index_units() fills it in.
  std::uint32_t rows = 0;       ///< At least 1, damaged rows included.

  bool operator==(const Unit&) const = default;
};

/// A file whose metadata have been read. Loads units: BlockRef::line is a unit's number in units(),
/// BlockRef::offset the number of its first row in the file.
class UnitFile : public BlockSource {
 public:
  /// Returns all units, in file order; each row of the file is in one of them.
  virtual std::vector<Unit> units() const = 0;
  /// Returns the digest of the metadata. Files of one size with one digest have equal rows, or
  /// load() finds the difference.
  virtual Digest content() const = 0;
};

/// A format whose files say themselves where rows are, so that metadata alone give the blocks.
class UnitFormat : public Format {
 public:
  const UnitFormat* units() const final { return this; }
  /// Reads the metadata of `file`, which outlives the result, and bounds each number in them before
  /// it is used. Reads no rows. kInvalid for a file that lacks a column of the dataset or has it
  /// with another type, kCorrupt for damaged metadata; the message begins with the path.
  virtual Result<std::unique_ptr<UnitFile>> open(const InputFile& file) const = 0;
};

}  // namespace forebay
