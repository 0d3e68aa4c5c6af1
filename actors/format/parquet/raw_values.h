#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "actors/format/parquet/leaf.h"
#include "actors/format/parquet/page_reader.h"

namespace forebay::parquet {

/// The values of a page as their physical type stores them, nulls left out.
///
/// Of fixed size: back to back in `fixed`, little-endian, without alignment; a boolean is one byte.
/// Byte arrays: `texts`. Both point into the page or into memory that this object owns and reuses
/// from page to page.
struct RawValues {
  const char* fixed = nullptr;
  std::vector<std::string_view> texts;

  std::vector<char> bytes;  ///< Memory of `fixed` or `texts` that do not point into a page.
  std::vector<std::int64_t> integers;  ///< Memory for differences.
  std::vector<std::int64_t> lengths;   ///< The same, of texts.
};

/// Returns the bytes that one value takes in RawValues::fixed; 0 for byte arrays.
std::size_t size_of_value(const Leaf& leaf);

/// Decodes `count` values of `leaf` from `bytes`, encoded as `encoding`, which is not a
/// dictionary's. Returns "", or what is wrong with them: untrusted. kUnpackSlack + 1 readable bytes
/// follow them.
std::string read_values(const Leaf& leaf, std::int32_t encoding, std::span<const char> bytes,
                        std::size_t count, RawValues& out);

}  // namespace forebay::parquet
