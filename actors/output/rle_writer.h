#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "actors/output/level_bits.h"

namespace forebay::parquet {

/// Appends numbers of `width` bits, 1 to 16, in the hybrid of runs and packed bits
/// (parquet-format's Encodings.md, "RLE = 3") that RleReader reads: eight or more equal numbers
/// become a run, all others are packed.
void write_rle(std::span<const std::uint16_t> numbers, unsigned width, std::string& out);

/// Appends levels, one bit each, in the same hybrid: 32 or more equal ones become a run.
void write_levels(const LevelBits& levels, std::string& out);

/// Appends a run of `count` >= 1 equal levels.
void write_level_run(unsigned level, std::size_t count, std::string& out);

}  // namespace forebay::parquet
