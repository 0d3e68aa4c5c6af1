#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace forebay::parquet {

/// Appends integers in DELTA_BINARY_PACKED (parquet-format's Encodings.md, "DELTA_BINARY_PACKED =
/// 5") that DeltaReader reads: blocks of 128, the bits of two's complement numbers.
///
/// Returns false, with some bytes appended, as soon as a part of a block would need more than 48
/// bits a number: then it saves little.
bool write_delta(std::span<const std::uint64_t> numbers, std::string& out);

}  // namespace forebay::parquet
