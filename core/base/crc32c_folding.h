#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace forebay {

/// The polynomial of CRC-32C (Castagnoli), its bits reversed.
inline constexpr std::uint32_t kCrc32cPolynomial = 0x82f63b78;

/// The minimum number of bytes that fold_crc32c accepts.
inline constexpr std::size_t kLeastFolded = 256;

/// Updates a CRC-32C `state` with `bytes`, at least kLeastFolded of them, except for a tail of
/// fewer than 64 bytes, which stays in `bytes`. Multiplies 256 bytes at a time (without carries) by
/// powers of x and adds them to the 256 bytes that follow, which keeps the remainder modulo the
/// polynomial (Gopal and others, "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
/// Instruction", Intel, 2009). Requires a processor with AVX-512 and VPCLMULQDQ.
std::uint32_t fold_crc32c(std::span<const char>& bytes, std::uint32_t state);

}  // namespace forebay
