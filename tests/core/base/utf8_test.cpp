#include "core/base/text/utf8.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("text is UTF-8 where each character has its shortest form", "[core][utf8]") {
  for (const char* text : {"", "a", "\xc3\xa4", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
                           "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CAPTURE(text);
    CHECK(is_utf8(text));
  }
  for (const char* text : {"\xff", "a\x80", "\xc3", "\xc0\x80", "\xe0\x9f\xbf", "\xed\xa0\x80",
                           "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80"}) {
    CAPTURE(text);
    CHECK_FALSE(is_utf8(text));
  }
}

TEST_CASE("a character counts once, however many bytes it has", "[core][utf8]") {
  CHECK(character_count("") == 0);
  CHECK(character_count("P,\xe2\x80\xa6") == 3);
}

}  // namespace
}  // namespace forebay
