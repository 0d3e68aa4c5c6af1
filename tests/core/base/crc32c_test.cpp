#include "core/base/crc32c.h"

#include <string>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("crc32c gives the check values of its specification", "[core][base]") {
  CHECK(crc32c(std::string("123456789")) == 0xe3069283);
  CHECK(crc32c(std::string(32, '\0')) == 0x8a9136aa);  // RFC 3720, B.4
  CHECK(crc32c(std::string(32, '\xff')) == 0x62a8ab43);
  CHECK(crc32c({}) == 0);
}

/// Bit by bit, as the polynomial says.
std::uint32_t slowly(std::span<const char> bytes) {
  std::uint32_t state = ~0U;
  for (const char byte : bytes) {
    state ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) state = (state >> 1) ^ ((state & 1) != 0 ? 0x82f63b78 : 0);
  }
  return ~state;
}

TEST_CASE("crc32c is the polynomial's at any length and place", "[core][base]") {
  Random random(6);
  std::string text(40'000, ' ');
  for (char& letter : text) letter = static_cast<char>(random.below(256));
  for (const std::size_t bytes : {7, 8, 767, 768, 775, 1536, 12'287, 12'288, 13'063, 39'990}) {
    for (const std::size_t from : {0, 1, 5}) {
      const auto part = std::span(text).subspan(from, bytes);
      CHECK(crc32c(part) == slowly(part));
    }
  }
}

TEST_CASE("crc32c of pieces is that of the whole, however it is cut", "[core][base]") {
  Random random(5);
  std::string text(1000, ' ');
  for (char& letter : text) letter = static_cast<char>(random.below(256));
  const std::uint32_t whole = crc32c(text);
  for (std::size_t cut = 0; cut <= text.size(); cut += 7) {
    const std::uint32_t first = crc32c(std::span(text).first(cut));
    CHECK(crc32c(std::span(text).subspan(cut), first) == whole);
  }
}

}  // namespace
}  // namespace forebay
