#include <vector>

#include "engine/process/memory_use.h"

#include "tests/support/catch.h"

namespace forebay {

TEST_CASE("resident pages are the second number of statm", "[tools][resident_gauge]") {
  CHECK(resident_pages("61342 1204 907 11 0 210 0\n") == 1204);
  CHECK(resident_pages("61342") == 0);
  CHECK(resident_pages("") == 0);
  CHECK(resident_pages("1 x") == 0);
}

TEST_CASE("the gauge follows the pages that the process touches", "[tools][resident_gauge]") {
  const ResidentGauge gauge;
  const std::uint64_t before = gauge.bytes();
  REQUIRE(before > 0);
  constexpr std::size_t kSize = std::size_t{64} << 20;
  const std::vector<char> touched(kSize, 1);
  CHECK(gauge.bytes() - before > kSize / 2);
}

}  // namespace forebay
