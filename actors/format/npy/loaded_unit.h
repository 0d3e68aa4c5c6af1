#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actors/format/npy/npy_header.h"

namespace forebay::npy {

/// Where the values of a wanted column lie in a loaded unit. The head of a unit is one of these a
/// column, as it stands in memory, and the arrays' bytes follow.
struct ColumnPlace {
  std::uint64_t at = 0;           ///< Of the first row's first value, from the end of the head.
  std::uint32_t row_stride = 0;   ///< Bytes from a row's value to the next row's.
  std::uint32_t item_stride = 0;  ///< Bytes from one id of a row to its next one.
  std::uint32_t items = 1;        ///< Values of a row; more or fewer than one only of ids.
  ElementType type;
  std::uint16_t unused = 0;  ///< So that all bytes are written.
};
static_assert(sizeof(ColumnPlace) == 24 && alignof(ColumnPlace) == 8);

/// A column of a loaded unit. Borrows its bytes.
struct LoadedColumn {
  const char* first = nullptr;
  ColumnPlace place;

  const char* row(std::size_t i) const { return first + i * place.row_stride; }
};

/// Returns the columns of a unit of `rows` rows, which checks that all of their values lie in
/// `bytes`; none if one does not.
std::optional<std::vector<LoadedColumn>> columns_of(std::span<const char> bytes,
                                                    std::size_t columns, std::uint32_t rows);

/// Some rows of a unit, by their numbers in it, ascending.
struct RowList {
  const std::uint16_t* numbers = nullptr;  ///< From `first` on.
  std::size_t count = 0;
  std::size_t first = 0;
  bool all = false;  ///< Whether they are `count` neighbours from `first` on.
};

/// Copies the values of these rows as floats; NaN becomes missing_value().
void copy_floats(const LoadedColumn& column, const RowList& rows, float* out);
/// Copies them as doubles; NaN stays.
void copy_doubles(const LoadedColumn& column, const RowList& rows, double* out);
/// Copies all ids of these rows, which are no floats: int64, unsigned ones by their bits.
void copy_ids(const LoadedColumn& column, const RowList& rows, std::int64_t* out);

}  // namespace forebay::npy
