#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "core/base/result.h"

namespace forebay::npy {

/// The type of an array's values; all are little-endian.
struct ElementType {
  enum class Kind : std::uint8_t { kSigned, kUnsigned, kFloat, kBoolean };

  Kind kind = Kind::kFloat;
  std::uint8_t bytes = 4;  ///< 1, 2, 4 or 8; a float has at least 2, a boolean 1.

  bool operator==(const ElementType&) const = default;
  /// Returns NumPy's name, such as "int32".
  std::string name() const;
  bool is_float() const { return kind == Kind::kFloat; }
  /// Whether the members hold what the comments say.
  bool is_sound() const;
};

/// What a `.npy` file says of its array.
struct ArrayHeader {
  ElementType type;
  std::uint64_t rows = 0;
  std::uint32_t columns = 1;     ///< 1 for an array of one dimension; may be 0.
  bool by_column = false;        ///< Fortran's order: the values of a column lie together.
  std::uint32_t data_start = 0;  ///< Bytes before the first value.

  std::uint64_t row_bytes() const { return std::uint64_t{columns} * type.bytes; }
};

inline constexpr std::size_t kMostHeader = 4096;       ///< Bytes of a header.
inline constexpr std::uint64_t kMostColumns = 65'536;  ///< Of one array.

/// Parses the header of an array that takes `bytes` bytes with its header (NumPy's format 1.0 to
/// 3.0). `start` holds its first kMostHeader bytes, or all of them. kCorrupt: no `.npy`, or a
/// damaged one; kInvalid: an array of another kind than one or two dimensions of numbers or
/// booleans. The message is what is wrong and what to do, without a name.
Result<ArrayHeader> parse_array_header(std::span<const char> start, std::uint64_t bytes);

}  // namespace forebay::npy
