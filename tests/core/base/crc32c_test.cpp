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

TEST_CASE("crc32c is the polynomial's at any length and place, by every method of the processor",
          "[core][base]") {
  Random random(6);
  std::string text(40'000, ' ');
  for (char& letter : text) letter = static_cast<char>(random.below(256));
  for (const std::size_t bytes : {0, 7, 8, 255, 256, 257, 319, 320, 511, 512, 767, 768, 775, 1536,
                                  12'287, 12'288, 13'063, 39'990}) {
    for (const std::size_t from : {0, 1, 5}) {
      const auto part = std::span(text).subspan(from, bytes);
      const std::uint32_t expected = slowly(part);
      CHECK(crc32c(part) == expected);
      for (const Crc32cMethod method : crc32c_methods()) {
        INFO("method " << reinterpret_cast<void*>(method) << ", " << bytes << " bytes");
        CHECK(~method(part, ~0U) == expected);
      }
    }
  }
}

TEST_CASE("every method of the processor continues from the checksum of the bytes before",
          "[core][base]") {
  Random random(7);
  std::string text(3000, ' ');
  for (char& letter : text) letter = static_cast<char>(random.below(256));
  const std::uint32_t whole = slowly(text);
  for (const Crc32cMethod method : crc32c_methods()) {
    for (const std::size_t cut : {0, 1, 1000, 2743, 2744, 2999}) {
      INFO("method " << reinterpret_cast<void*>(method) << ", cut at " << cut);
      const std::uint32_t state = method(std::span(text).first(cut), ~0U);
      CHECK(~method(std::span(text).subspan(cut), state) == whole);
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
