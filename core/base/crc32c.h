#pragma once

#include <cstdint>
#include <span>

namespace forebay {

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4) of bytes that follow those that gave `before`, so
/// that content in pieces has the checksum of the whole. By the processor's own instruction
/// where it has one (20 GB/s and more).
std::uint32_t crc32c(std::span<const char> bytes, std::uint32_t before = 0);

}  // namespace forebay
