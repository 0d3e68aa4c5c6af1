#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/format/parquet/thrift_structs.h"
#include "core/base/result.h"

namespace forebay::parquet {

/// How a value is stored; the numbers are those of parquet.thrift.
enum class Physical : std::uint8_t {
  kBoolean = 0,
  kInt32 = 1,
  kInt64 = 2,
  kInt96 = 3,
  kFloat = 4,
  kDouble = 5,
  kByteArray = 6,
  kFixedBytes = 7,
};

/// What a stored value means.
enum class Meaning : std::uint8_t {
  kBoolean,
  kSigned,
  kUnsigned,
  kFloat,      ///< Of 16 bits in kFixedBytes, else of 32 or 64.
  kDecimal,    ///< An integer, or big-endian bytes, times 10^-scale.
  kDate,       ///< Days since 1970.
  kTimestamp,  ///< `per_second` units since 1970; kInt96: nanoseconds of a day and its Julian day.
  kText,       ///< Text or binary.
  kNull,       ///< Nothing: all values are null, as in a column of nothing but pandas' None.
  kOther,      ///< A type that the reader lacks; `type` names it.
};

/// A leaf of a file's schema: what a job names as one column.
struct Leaf {
  /// The names from the root, joined by dots; without the two levels below a list's own name.
  std::string name;
  std::string type;  ///< For messages, such as "a list of INT64 (timestamp)".
  Physical physical = Physical::kInt32;
  Meaning meaning = Meaning::kOther;
  std::uint32_t bytes = 0;  ///< Of a value in kFixedBytes.
  std::int32_t scale = 0;   ///< Of a decimal.
  std::uint64_t per_second = 1;
  /// A value stands where the definition level is the largest; a row begins where the repetition
  /// level is 0. Both are 0 for a column of which every row has one value.
  std::uint8_t most_definition = 0;
  std::uint8_t most_repetition = 0;  ///< 1: a list; more are refused by `meaning` kOther.

  /// Of a list whose rows all have so many items; 0 for any other column.
  std::uint32_t list_size = 0;

  bool is_list() const { return most_repetition > 0; }
};

/// Returns the leaves of a file's schema, in the order of the column chunks of a row group.
/// kCorrupt for a schema that is no tree, or whose levels are too many; the message names the
/// element.
Result<std::vector<Leaf>> leaves_of(const std::vector<SchemaElement>& schema);

}  // namespace forebay::parquet
