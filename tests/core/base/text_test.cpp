#include "core/base/text/text.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("blanks, or any characters, around a text are cut off, and those within it stay",
          "[core][text]") {
  CHECK(trimmed(" \t a b\r\n") == "a b");
  CHECK(trimmed("a") == "a");
  CHECK(trimmed(" \r\n").empty());
  CHECK(trimmed("").empty());
  CHECK(trimmed("--a-b-", [](char letter) { return letter == '-'; }) == "a-b");
  CHECK(trimmed("--", [](char letter) { return letter == '-'; }).empty());
}

}  // namespace forebay
