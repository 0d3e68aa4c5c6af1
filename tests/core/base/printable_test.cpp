#include "core/base/text/printable.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("characters that could move a terminal's cursor are shown as bytes",
          "[core][printable]") {
  CHECK(printable("a\tb\x1b\\") == "a\\tb\\x1b\\x5c");
  CHECK(printable("\x7f\r\n") == "\\x7f\\x0d\\x0a");
  CHECK(printable("\xc2\x9b[2J") == "\\xc2\\x9b[2J");  // U+009B: CSI in one character.
  CHECK(printable("\xc2\xa0") == "\xc2\xa0");          // U+00A0 follows the last control.
}

TEST_CASE("text is cut after whole characters", "[core][printable]") {
  CHECK(printable("äöü", 3) == "äöü");
  CHECK(printable("äöüx", 3) == "äöü…");
}

TEST_CASE("bytes that are not UTF-8 are shown in hex", "[core][printable]") {
  CHECK(printable("\xc3(\xa4\xff") == "\\xc3(\\xa4\\xff");
  CHECK(printable("\xc3") == "\\xc3");
}

TEST_CASE("a field of a TSV holds neither a tab nor a newline", "[core][printable]") {
  CHECK(printable_field("a\tb\n\\") == "a\\x09b\\x0a\\x5c");
}

TEST_CASE("a message is one line and keeps its backslashes", "[core][printable]") {
  CHECK(printable_message("C:\\data: no\nforebay: \x1b[31mfake") ==
        "C:\\data: no\\nforebay: \\x1b[31mfake");
}

TEST_CASE("a long message keeps its begin and its end", "[core][printable]") {
  for (const char* filling : {"x", "\x1b", "ä"}) {
    std::string long_one = "what: ";
    for (int i = 0; i < 10000; ++i) long_one += filling;
    const std::string shown = printable_message(long_one + "; what to do");
    INFO(shown.size());
    CHECK(shown.size() <= kMostMessageBytes);
    CHECK(shown.size() > kMostMessageBytes - 16);
    CHECK(shown.starts_with("what: "));
    CHECK(shown.ends_with("; what to do"));
    CHECK(printable_message(shown) == shown);  // Nothing in it was cut in two.
  }
}

}  // namespace
}  // namespace forebay
