#include "core/base/text/hex.h"

#include <cstdint>
#include <string>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("hex digits have a fixed width, and are read back in either case", "[core][text]") {
  std::string text = "\\x";
  append_hex(text, 0x0a);
  append_hex(text, 0xf5);
  CHECK(text == "\\x0af5");
  CHECK(hex_digits(0) == "0000000000000000");
  CHECK(hex_digits(0xfedc'ba98'0000'0001) == "fedcba9800000001");
  CHECK(parse_hex("fedcba9800000001") == 0xfedc'ba98'0000'0001);
  CHECK(parse_hex("FEDCBA9800000001") == 0xfedc'ba98'0000'0001);
  CHECK(parse_hex("0") == 0U);
  for (const char* none : {"", "g", " 1", "1 ", "-1", "0x1", "10000000000000000"}) {
    INFO(none);
    CHECK_FALSE(parse_hex(none));
  }
}

}  // namespace forebay
