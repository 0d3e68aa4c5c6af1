#include "core/base/random.h"

#include <array>

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("mix64 is SplitMix64's output function", "[core][random]") {
  // The first outputs of SplitMix64 seeded with 0 and with 1234567 (Vigna's reference program).
  CHECK(mix64(0) == 0xe220a8397b1dcdafULL);
  Random random(1234567);
  CHECK(random.next() == 6457827717110365317ULL);
  CHECK(random.next() == 3203168211198807973ULL);
}

TEST_CASE("below stays below its bound and reaches every number", "[core][random]") {
  Random random(3);
  std::array<int, 7> seen{};
  for (int i = 0; i < 7000; ++i) ++seen.at(random.below(7));
  for (const int times : seen) CHECK(times > 800);  // 1000 expected, standard deviation 29.
}

TEST_CASE("uniform numbers are at least 0 and below 1", "[core][random]") {
  Random random(4);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double value = random.uniform();
    REQUIRE(value >= 0);
    REQUIRE(value < 1);
    sum += value;
  }
  CHECK(sum / 10'000 == Approx(0.5).margin(0.02));
}

}  // namespace
}  // namespace forebay
