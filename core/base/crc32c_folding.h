#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

/// The fewest bytes that fold_crc32c takes.
inline constexpr std::size_t kLeastFolded = 256;

/// Takes the state of a CRC-32C over at least kLeastFolded bytes, but for the last ones, fewer than
/// 64, which stay in `bytes`. 256 bytes at a time are multiplied by powers of x without carries and
/// added to those 256 bytes further on, which leaves the remainder by the polynomial as it is
/// (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
/// Instruction", Intel, 2009). Needs a processor with AVX-512 and VPCLMULQDQ.
std::uint32_t fold_crc32c(std::span<const char>& bytes, std::uint32_t state);

}  // namespace forebay
