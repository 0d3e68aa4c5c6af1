#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "actors/format/parquet/raw_values.h"

namespace forebay::parquet {

/// Returns why a column of this type cannot be dense, such as "BYTE_ARRAY (text)"; "" if it can,
/// like the items of a list of fixed size. A column of type null can be both.
std::string why_not_dense(const Leaf& leaf);
/// Returns why a column of this type cannot be sparse; "" if it can.
std::string why_not_sparse(const Leaf& leaf);

/// Converts raw values of a leaf that can be dense: numbers to the nearest float, dates to days and
/// timestamps to seconds since 1970. Every NaN becomes the one of kNanBits.
void to_floats(const Leaf& leaf, const RawValues& raw, std::size_t count, float* out);
/// The same as doubles.
void to_doubles(const Leaf& leaf, const RawValues& raw, std::size_t count, double* out);

/// Converts raw values of a leaf that can be sparse: integers as they are (unsigned ones by their
/// bits), dates and timestamps as stored, text by the rule of id_of().
void to_ids(const Leaf& leaf, const RawValues& raw, std::size_t count, std::int64_t* out);

}  // namespace forebay::parquet
