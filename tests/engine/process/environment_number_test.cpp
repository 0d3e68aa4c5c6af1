#include "engine/job/quantity.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

std::string number_refusal(std::string_view text) {
  auto number = environment_number("RANK", text, 0, 3);
  if (number) return "";
  CHECK(number.error().code == Code::kInvalid);
  return number.error().message;
}

TEST_CASE("a number of the environment is digits within its range", "[tools][process]") {
  CHECK(environment_number("RANK", "0", 0, 3).value() == 0);
  CHECK(environment_number("RANK", "3", 0, 3).value() == 3);
  CHECK(number_refusal(" 0") ==
        "RANK is \" 0\" in the environment and must be a whole number within 0 to 3");
  for (const char* text : {"", " ", "0 ", "+1", "-1", "1.0", "0x1", "4", "1e0",
                           "18446744073709551616", "99999999999999999999999999"}) {
    INFO('"' << text << '"');
    CHECK(number_refusal(text).starts_with("RANK is \"" + std::string(text).substr(0, 40)));
  }
}

TEST_CASE("a variable's value is shown printable and short", "[tools][process]") {
  CHECK(number_refusal("1\n\x1b[2J").starts_with("RANK is \"1\\x0a\\x1b[2J\" in"));
  CHECK(number_refusal(std::string(100000, 'x')).size() < 200);
}

}  // namespace
}  // namespace forebay
