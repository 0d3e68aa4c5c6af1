#pragma once

#include <bit>
#include <cstdint>

#include "core/data/column_set.h"

namespace forebay {

/// Returns the value of IEEE 754's binary16; every NaN becomes the one of kNanBits. Loops over it
/// become vector instructions.
///
/// The exponent is shifted into place and then moved by the difference of the biases in a
/// multiplication, which is exact and normalises the smallest numbers, too.
inline float float_of_half(std::uint16_t bits) {
  const auto moved = std::bit_cast<float>(std::uint32_t{bits & 0x7fffU} << 13) * 0x1p112F;
  const std::uint32_t magnitude = bits & 0x7fffU;
  auto out = std::bit_cast<std::uint32_t>(moved);
  out = magnitude >= 0x7c00 ? 0x7f800000 : out;
  out |= std::uint32_t{bits & 0x8000U} << 16;
  return std::bit_cast<float>(magnitude > 0x7c00 ? kNanBits : out);
}

}  // namespace forebay
