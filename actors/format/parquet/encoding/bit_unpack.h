#pragma once

#include <cstddef>
#include <cstdint>

#include "core/base/cpu_level.h"

namespace forebay::parquet {

/// Bytes past the packed numbers that unpack_bits() may read; their content does not matter.
inline constexpr std::size_t kUnpackSlack = 8;

/// Unpacks `count` numbers of `width` bits each, 0 to 32, packed from the lowest bit of the first
/// byte upwards. `count` is a multiple of 8. Reads up to kUnpackSlack bytes past the last number.
void unpack_bits(const char* packed, unsigned width, std::size_t count, std::uint32_t* out);

/// The same with AVX2 and BMI2 (bit_unpack_avx2.cpp).
void unpack_bits_avx2(const char* packed, unsigned width, std::size_t count, std::uint32_t* out);

using UnpackBits = void (*)(const char* packed, unsigned width, std::size_t count,
                            std::uint32_t* out);
/// Returns the fastest of them that a processor of this level can run.
UnpackBits unpack_bits_for(CpuLevel level);

/// The same for numbers of up to 64 bits, one after the other.
void unpack_wide_bits(const char* packed, unsigned width, std::size_t count, std::uint64_t* out);

}  // namespace forebay::parquet
