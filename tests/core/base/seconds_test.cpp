#include "core/base/text/seconds.h"

#include <chrono>

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("seconds have a tenth below ten, and are rounded down", "[core][text]") {
  using std::chrono::milliseconds;
  CHECK(format_seconds(milliseconds(0)) == "0.0 s");
  CHECK(format_seconds(milliseconds(399)) == "0.3 s");
  CHECK(format_seconds(milliseconds(9'999)) == "9.9 s");
  CHECK(format_seconds(milliseconds(10'000)) == "10 s");
  CHECK(format_seconds(milliseconds(12'999)) == "12 s");
  CHECK(format_whole_seconds(milliseconds(999)) == "0 s");
  CHECK(format_whole_seconds(milliseconds(12'999)) == "12 s");
}

}  // namespace forebay
