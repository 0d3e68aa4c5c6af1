#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace forebay::parquet {

/// Returns the checksum of a page's bytes as headers of pages hold it: CRC-32 as in gzip (RFC
/// 1952), of bytes appended to content whose checksum is `before`.
std::uint32_t page_sum(std::span<const char> bytes, std::uint32_t before = 0);

using PageSum = std::uint32_t (*)(std::span<const char> bytes, std::uint32_t before);

/// The methods of page_sum() that this processor supports, the fastest first; all give the same
/// value: carry-less products (PCLMULQDQ), zlib's.
std::vector<PageSum> page_sum_methods();

}  // namespace forebay::parquet
