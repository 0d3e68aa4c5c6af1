#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "actors/source/file_index.h"
#include "core/base/check.h"

namespace {

// The input is what follows magic and digest, which no mutation would get right.
std::vector<char> with_header(std::string_view body) {
  std::vector<char> bytes = forebay::encode_index({});
  constexpr std::size_t kMagic = 8;
  bytes.resize(kMagic);
  const auto digest = forebay::Digest::of(body.data(), body.size());
  for (const std::uint64_t word : {digest.low, digest.high}) {
    for (int shift = 0; shift < 64; shift += 8) bytes.push_back(static_cast<char>(word >> shift));
  }
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

}  // namespace

/// What parse_index takes, encode_index must write so that it reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = with_header({reinterpret_cast<const char*>(data), size});
  const auto index = forebay::parse_index(bytes);
  if (!index) return 0;
  for (const forebay::Block& block : index->blocks) FOREBAY_CHECK(block.offset < index->bytes);
  FOREBAY_CHECK(index->longest_span() <= index->bytes);
  FOREBAY_CHECK(forebay::parse_index(forebay::encode_index(*index)) == *index);
  return 0;
}
