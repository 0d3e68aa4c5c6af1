#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/format/column_fill.h"
#include "actors/format/criteo_row.h"
#include "core/base/cpu_level.h"

namespace forebay {

/// Where the tabs and newlines of a few rows stand. Plain memory of a decoder, used again for
/// group after group. (Kernels see no inline functions of others, which a linker might take
/// from a kernel compiled for another processor; hence arrays of the language here.)
struct CriteoGroup {
  static constexpr std::size_t kRows = 32;
  static constexpr std::size_t kMarks = kRows * CriteoRow::kFields;

  std::size_t rows = 0;  ///< Leading rows that have all their fields.
  /// marks[0] is -1, the newline before the first row; marks[40 * r + f + 1] is the offset of the
  /// end of field f of row r. Every entry that no row has is an offset inside the text. Behind
  /// kMarks is room for what one step can find too much.
  alignas(64) std::int32_t marks[1 + kMarks + 128] = {};

  std::size_t row_begin(std::size_t row) const {
    return static_cast<std::size_t>(std::int64_t{marks[CriteoRow::kFields * row]} + 1);
  }
};

/// The columns that a kernel fills; nullptr for those that are checked only.
struct CriteoTarget {
  std::size_t rows = 0;
  float* labels = nullptr;
  float* ints[CriteoRow::kInts] = {};
  SparseFill* tokens[CriteoRow::kTokens] = {};
};

/// Decodes plain rows at full speed: integers of at most 8 characters, no damage. What it does
/// not take is CriteoRow's, whose results it equals bit for bit.
///
/// Text is given by its first byte and size, below 2^30; 63 bytes behind it are read too.
struct CriteoKernel {
  /// Finds the fields of the leading rows, up to CriteoGroup::kRows or a row that has not 40.
  void (*find)(const char* text, std::size_t size, CriteoGroup& group);
  /// Decodes the leading rows of a group and appends those whose bit in `picked` is set. Returns
  /// how many rows it took; the next one, when the group has more, is not plain.
  std::size_t (*decode)(const char* text, const CriteoGroup& group, std::uint32_t picked,
                        CriteoTarget& target);
};

/// The kernel of `level`, which this processor must have.
const CriteoKernel& criteo_kernel(CpuLevel level);

extern const CriteoKernel kCriteoBaseline;
extern const CriteoKernel kCriteoAvx2;
extern const CriteoKernel kCriteoAvx512;

}  // namespace forebay
