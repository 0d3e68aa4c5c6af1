#include "core/base/text/number.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("a text is a number as a whole, and one that fits its type", "[core][text]") {
  CHECK(parse_number("18446744073709551615") == 18446744073709551615U);
  CHECK_FALSE(parse_number("18446744073709551616"));
  CHECK(parse_number<std::uint16_t>("65535") == 65535);
  CHECK_FALSE(parse_number<std::uint16_t>("65536"));
  CHECK(parse_number<std::int32_t>("-7") == -7);
  CHECK(parse_number<double>("2.5e-1") == 0.25);
  CHECK_FALSE(parse_number<double>("1e999"));
  for (const char* text : {"", " 7", "7 ", "+7", "-7", "0x7", "7a", "7.0"}) {
    INFO(text);
    CHECK_FALSE(parse_number<std::uint32_t>(text));
  }
}

TEST_CASE("a number is taken from the start of a text, and a text without one stays",
          "[core][text]") {
  std::string_view text = "12-300";
  CHECK(take_number<std::uint32_t>(text) == 12U);
  CHECK(text == "-300");
  CHECK_FALSE(take_number<std::uint32_t>(text));
  CHECK(text == "-300");
  CHECK(take_number<std::int32_t>(text) == -300);
  CHECK(text.empty());
  CHECK_FALSE(take_number<std::int32_t>(text));
  text = "4294967296,";
  CHECK_FALSE(take_number<std::uint32_t>(text));
  CHECK(text == "4294967296,");
}

TEST_CASE("the first and the second number of a line are found behind blanks", "[core][text]") {
  CHECK(leading_number(" \t 42 kB\n") == 42U);
  CHECK(leading_number("42") == 42U);
  CHECK_FALSE(leading_number("max 100000"));
  CHECK_FALSE(leading_number("  "));
  CHECK_FALSE(leading_number(""));
  CHECK(second_number<std::int64_t>("6215230 18053 12\n") == 18053);
  CHECK(second_number<std::int64_t>("max 100000") == 100000);
  CHECK_FALSE(second_number<std::int64_t>("6215230"));
  CHECK_FALSE(second_number<std::int64_t>("1 x"));
}

}  // namespace forebay
