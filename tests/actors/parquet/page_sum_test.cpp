#include "actors/format/parquet/page_sum.h"

#include <cstddef>
#include <string>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::parquet {
namespace {

/// Bit by bit, as the polynomial says.
std::uint32_t summed_slowly(std::span<const char> bytes) {
  std::uint32_t state = ~0U;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0xedb88320 : 0);
  }
  return ~state;
}

TEST_CASE("a page's checksum is that of gzip", "[actors][parquet]") {
  CHECK(page_sum(std::string("123456789")) == 0xcbf43926);
  CHECK(page_sum({}) == 0);
}

TEST_CASE("every method of the processor gives a page's checksum, in one piece or two",
          "[actors][parquet]") {
  Random random(3);
  std::string text(5000, ' ');
  for (char& letter : text) letter = static_cast<char>(random.below(256));
  for (const std::size_t bytes : {0, 1, 15, 16, 63, 64, 65, 79, 80, 127, 128, 143, 200, 4999}) {
    const auto part = std::span(text).subspan(1, bytes);
    const std::uint32_t expected = summed_slowly(part);
    CHECK(page_sum(part) == expected);
    for (const PageSum method : page_sum_methods()) {
      INFO("method " << reinterpret_cast<void*>(method) << ", " << bytes << " bytes");
      CHECK(method(part, 0) == expected);
      const std::size_t cut = bytes / 3;
      CHECK(method(part.subspan(cut), method(part.first(cut), 0)) == expected);
    }
  }
}

}  // namespace
}  // namespace forebay::parquet
