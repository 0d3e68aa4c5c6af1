#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include "actors/source/index/file_index.h"
#include "actors/source/stored/zstd_stream.h"
#include "actors/transform/user_function.h"
#include "core/base/check.h"

namespace {

// The input is the part after magic and digest, since no mutation would get these right.
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

// The same bytes as a shared library: no byte is read beyond their end, and few are read at all.
void check_library(const std::uint8_t* data, std::size_t size) {
  std::size_t taken = 0;
  const auto read = [&](std::uint64_t offset, std::span<std::byte> to) {
    FOREBAY_CHECK(offset <= size && to.size() <= size - offset);
    std::memcpy(to.data(), data + offset, to.size());
    taken += to.size();
    return true;
  };
  static_cast<void>(forebay::check_shared_object(size, read));
  FOREBAY_CHECK(taken <= std::size_t{300} << 10);
}

}  // namespace

/// The other reader of a file's head: takes no more memory than its window or its content.
/// encode_index must write an accepted index so that it reads back the same.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  check_library(data, size);
  if (const auto frame = forebay::ZstdFrame::read({reinterpret_cast<const char*>(data), size})) {
    FOREBAY_CHECK(frame->memory() <= frame->window && frame->memory() <= frame->content);
  }
  const auto bytes = with_header({reinterpret_cast<const char*>(data), size});
  const auto index = forebay::parse_index(bytes);
  if (!index) return 0;
  for (const forebay::Block& block : index->blocks) FOREBAY_CHECK(block.offset < index->bytes);
  FOREBAY_CHECK(index->longest_span() <= index->bytes);
  FOREBAY_CHECK(forebay::parse_index(forebay::encode_index(*index)) == *index);
  return 0;
}
