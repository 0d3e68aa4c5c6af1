#pragma once

#include <cstdint>
#include <span>

namespace forebay {

/// Returns the CRC-32C (Castagnoli; RFC 3720, appendix B.4) of `bytes` appended to content whose
/// checksum is `before`, so that content can be checksummed piece by piece. Uses the fastest method
/// of the processor.
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before = 0);

/// How a CRC-32C is computed. All methods give the same value.
enum class Crc32cMethod : std::uint8_t {
  kTable,        ///< Any processor.
  kInstruction,  ///< SSE 4.2: the CRC instruction, three streams at a time (27 GB/s in cache).
  kFolding,      ///< AVX-512 and VPCLMULQDQ: crc32c_folding.h (100 GB/s in cache).
};

/// Whether this processor supports `method`.
bool has_crc32c(Crc32cMethod method);

/// crc32c with `method`, which this processor must support. For tests and benchmarks.
std::uint32_t crc32c_by(Crc32cMethod method, std::span<const char> bytes, std::uint32_t before = 0);

}  // namespace forebay
