#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay {

/// Returns the CRC-32C (Castagnoli; RFC 3720, appendix B.4) of `bytes` appended to content whose
/// checksum is `before`, so that content can be checksummed piece by piece. Uses the fastest method
/// of the processor.
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before = 0);

/// Updates the state of a CRC-32C, the complement of the checksum, with `bytes`.
using Crc32cMethod = std::uint32_t (*)(std::span<const char> bytes, std::uint32_t state);

/// The methods that this processor supports, the fastest first; all give the same value:
/// carry-less products (AVX-512 and VPCLMULQDQ: 100 GB/s in cache), the CRC instruction with three
/// streams at a time (SSE 4.2 and PCLMULQDQ: 27 GB/s), with one (SSE 4.2), a table (any processor).
std::vector<Crc32cMethod> crc32c_methods();

}  // namespace forebay
