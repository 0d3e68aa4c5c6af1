#pragma once

#include <cstddef>
#include <cstdint>

#include "actors/format/column_fill.h"
#include "actors/format/criteo/criteo_row.h"
#include "core/base/cpu_level.h"

namespace forebay {

/// The locations of the tabs and newlines of a few rows. Plain memory of a decoder, reused for
/// every group. (Built-in arrays on purpose: a kernel must not use an inline function of another
/// header, because the linker might take its copy from a kernel compiled for another processor.)
struct CriteoGroup {
  static constexpr std::size_t kRows = 32;
  static constexpr std::size_t kMarks = kRows * CriteoRow::kFields;

  std::size_t rows = 0;  ///< Leading rows that have all their fields.
  /// marks[0] is -1, the newline before the first row; marks[40 * r + f + 1] is the offset of the
  /// end of field f of row r. Every entry that belongs to no row is some offset inside the text.
  /// The space behind kMarks holds the surplus marks of the last step.
  alignas(64) std::int32_t marks[1 + kMarks + 128] = {};

  std::size_t row_begin(std::size_t row) const {
    return static_cast<std::size_t>(std::int64_t{marks[CriteoRow::kFields * row]} + 1);
  }
};

/// The columns that a kernel fills; nullptr for columns that are only checked.
struct CriteoTarget {
  std::size_t rows = 0;
  float* labels = nullptr;
  float* ints[CriteoRow::kInts] = {};
  SparseFill* tokens[CriteoRow::kTokens] = {};
};

/// Decodes plain rows at full speed: integers of at most 8 characters, no damage. CriteoRow decodes
/// all other rows; for plain rows both give the same results bit for bit.
///
/// Text is given by its first byte and its size, below 2^30; the kernel also reads up to 63 bytes
/// behind it.
struct CriteoKernel {
  /// Finds the fields of the leading rows, up to CriteoGroup::kRows rows or the first row without
  /// exactly 40 fields.
  void (*find)(const char* text, std::size_t size, CriteoGroup& group);
  /// Decodes the leading rows of a group and appends those whose bit in `picked` is set. Returns
  /// the number of rows decoded; if the group has more rows, the next one is not plain.
  std::size_t (*decode)(const char* text, const CriteoGroup& group, std::uint32_t picked,
                        CriteoTarget& target);
};

/// Returns the kernel of `level`, which this processor must support.
const CriteoKernel& criteo_kernel(CpuLevel level);

extern const CriteoKernel kCriteoBaseline;
extern const CriteoKernel kCriteoAvx2;
extern const CriteoKernel kCriteoAvx512;

}  // namespace forebay
