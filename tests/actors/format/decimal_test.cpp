#include "actors/format/csv/decimal.h"

#include <bit>
#include <cstdlib>
#include <limits>
#include <string>

#include "core/base/random.h"
#include "core/data/column_set.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::uint32_t bits_of(const std::string& text) {
  float value = 0;
  REQUIRE(read_decimal(text, value));
  return std::bit_cast<std::uint32_t>(value);
}

bool is_number(const std::string& text) {
  float value = 0;
  return read_decimal(text, value);
}

TEST_CASE("a decimal number is read as the float that strtof gives", "[format][decimal]") {
  for (const char* text : {"0",
                           "-0",
                           "0.0",
                           "-0.0",
                           "+1.5",
                           ".5",
                           "5.",
                           "-.25",
                           "0.1",
                           "16777217",
                           "16777219",
                           "1e5",
                           "1E-5",
                           "0.021739130434782608",
                           "3.4028235e38",
                           "3.4028236e38",
                           "1e39",
                           "-1e39",
                           "1e-45",
                           "7e-46",
                           "1e-46",
                           "-1e-60",
                           "1e99999999999999999999",
                           "0e99999999999999999999",
                           "1e-99999999999999999999",
                           "0.000000000000000000000000000000000000000000000000000001e60",
                           "123456789012345678901234567890",
                           "8388608.5",
                           "8388609.5",
                           "1.17549435e-38",
                           "1.1754942e-38",
                           "inf",
                           "-Infinity",
                           "INF",
                           "0.00000000000000000000000000000000000000000000000000000000000001"}) {
    INFO(text);
    CHECK(bits_of(text) == std::bit_cast<std::uint32_t>(std::strtof(text, nullptr)));
  }
}

TEST_CASE("short and long decimals round as strtof does, whatever their digits",
          "[format][decimal]") {
  Random random(20260);
  for (int i = 0; i < 20000; ++i) {
    std::string text(random.below(2), '-');
    const std::uint32_t digits = 1 + random.below(random.below(4) == 0 ? 20 : 8);
    const std::uint32_t point = random.below(digits + 3);
    for (std::uint32_t d = 0; d < digits; ++d) {
      if (d == point) text += '.';
      text += static_cast<char>('0' + random.below(10));
    }
    if (random.below(4) == 0)
      text.append("e").append(std::to_string(static_cast<int>(random.below(100)) - 50));
    INFO(text);
    CHECK(bits_of(text) == std::bit_cast<std::uint32_t>(std::strtof(text.c_str(), nullptr)));
  }
}

TEST_CASE("a decimal number is read as the double that strtod gives", "[format][decimal]") {
  const auto check = [](const std::string& text) {
    INFO(text);
    double value = 0;
    REQUIRE(read_decimal(text, value));
    CHECK(std::bit_cast<std::uint64_t>(value) ==
          std::bit_cast<std::uint64_t>(std::strtod(text.c_str(), nullptr)));
  };
  for (const char* text : {"0", "-0", "+1.5", ".5", "5.", "4.1", "1e308", "1e309", "-1e309",
                           "1e-320", "1e-400", "-1e-400", "inf", "-Infinity", "16777217",
                           "9007199254740993", "0.1e-99999999999999999999"}) {
    check(text);
  }
  Random random(7);
  for (int i = 0; i < 5000; ++i) {
    std::string text(random.below(2), '-');
    text += std::to_string(random.next()) + '.' + std::to_string(random.next());
    if (random.below(2) == 0)
      text += "e" + std::to_string(static_cast<int>(random.below(700)) - 350);
    check(text);
  }
  double value = 0;
  REQUIRE(read_decimal("nan", value));
  CHECK(value != value);
  CHECK_FALSE(read_decimal("", value));
  CHECK_FALSE(read_decimal("+-1", value));
  CHECK_FALSE(read_decimal("1x", value));
  CHECK_FALSE(read_decimal("0x10", value));
}

TEST_CASE("a literal nan is the ordinary NaN, not the missing value", "[format][decimal]") {
  CHECK(bits_of("nan") == kNanBits);
  CHECK(bits_of("-NaN") == kNanBits);
}

TEST_CASE("text that is not a whole decimal number is refused", "[format][decimal]") {
  for (const char* text : {"", "-", "+", ".", "1x", "x", "0x10", "1e", "1e+", "e5", "--1", "+-1",
                           "-+1", "1.2.3", "nan(1)", "infinit", "1 2", "1,5", "in"}) {
    INFO(text);
    CHECK_FALSE(is_number(text));
  }
}

TEST_CASE("a canonical decimal int64 is its own id", "[format][decimal]") {
  CHECK(id_of("7") == 7);
  CHECK(id_of("0") == 0);
  CHECK(id_of("-3") == -3);
  CHECK(id_of("9223372036854775807") == std::numeric_limits<std::int64_t>::max());
  CHECK(id_of("-9223372036854775808") == std::numeric_limits<std::int64_t>::min());
}

TEST_CASE("any other text has its XXH3-64 as id", "[format][decimal]") {
  // XXH3_64bits of "a" and of "abc" with seed 0, from the reference implementation.
  CHECK(static_cast<std::uint64_t>(id_of("a")) == 0xe6c632b61e964e1fULL);
  CHECK(static_cast<std::uint64_t>(id_of("abc")) == 0x78af5f94892f3950ULL);
  for (const char* text :
       {"007", "+7", "-0", "7 ", "1e3", "9223372036854775808", "-", "--1", "00"}) {
    INFO(text);
    CHECK((id_of(text) > 1000000 || id_of(text) < -1000000));
  }
}

}  // namespace
}  // namespace forebay
