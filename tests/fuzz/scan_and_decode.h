#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/format.h"
#include "tests/actors/format/split_maker.h"

namespace forebay::fuzz {

/// A sound row as a reference parser reads it.
struct Row {
  std::uint64_t offset = 0;
  float label = 0;
  std::vector<float> dense;
  std::vector<std::vector<std::int64_t>> sparse;
  float weight = 0;  ///< If the format has weights.
  std::vector<std::int64_t> extras = {};
};

/// The result of a reference parser for a file.
struct Expected {
  std::vector<Row> rows;
  std::vector<std::uint64_t> damaged;  ///< Offsets.
};

/// Scans `text` in pieces of `piece` bytes, cuts it into blocks, decodes them all, and traps if the
/// result is not `expected`.
void check(const TextFormat& format, std::string_view text, std::size_t piece,
           const Expected& expected);

}  // namespace forebay::fuzz
