#include "engine/job/quantity.h"

#include "tests/support/catch.h"

namespace forebay {

using namespace std::chrono_literals;

TEST_CASE("sizes are read in powers of 1000 and of 1024", "[tools][quantity]") {
  CHECK(parse_size("512MiB") == 512ULL << 20);
  CHECK(parse_size("2GB") == 2'000'000'000ULL);
  CHECK(parse_size("1.5 gib") == 3ULL << 29);
  CHECK(parse_size("9223372036854775807") == 9223372036854775807ULL);
  for (const char* bad :
       {"", "MiB", "-1", "1XB", "1 MiBs", "nan", "inf", "1e400GB", "99999999999TB", "0x10"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_size(bad));
  }
}

TEST_CASE("times are read with a unit or in seconds", "[tools][quantity]") {
  CHECK(parse_duration("250ms") == 250ms);
  CHECK(parse_duration("5s") == 5s);
  CHECK(parse_duration("2m") == 120s);
  CHECK(parse_duration("0.5") == 500ms);
  CHECK_FALSE(parse_duration("-1s"));
  CHECK_FALSE(parse_duration("5 parsecs"));
  CHECK_FALSE(parse_duration("9e30s"));
}

TEST_CASE("quantities are shown with three digits", "[tools][quantity]") {
  CHECK(format_size(17) == "17 B");
  CHECK(format_size(400ULL << 20) == "400 MiB");
  CHECK(format_size(3ULL << 29) == "1.50 GiB");
  CHECK(format_count(1234567) == "1,234,567");
  CHECK(format_count(999) == "999");
  CHECK(format_duration(250ms) == "250 ms");
  CHECK(format_duration(200s) == "3 min 20 s");
  CHECK(format_duration(7500s) == "2 h 5 min");
}

}  // namespace forebay
