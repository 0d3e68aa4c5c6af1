#include "tuner/sim/noise.h"

#include <algorithm>
#include <cmath>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kSeed = 20240611;
constexpr int kDraws = 400'000;

}  // namespace

TEST_CASE("normal numbers have the moments and the tails of the normal distribution",
          "[tuner][sim][noise]") {
  NormalSource source(kSeed);
  double sum = 0;
  double squares = 0;
  double fourths = 0;
  int below_one = 0;
  int beyond_three = 0;
  int beyond_layers = 0;  // In the tail beyond the layers.
  for (int i = 0; i < kDraws; ++i) {
    const double x = source.next();
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    below_one += x < 1;
    beyond_three += std::abs(x) > 3;
    beyond_layers += std::abs(x) > 3.66;
  }
  // Five standard errors each.
  CHECK(std::abs(sum / kDraws) < 5 / std::sqrt(kDraws));
  CHECK(std::abs(squares / kDraws - 1) < 5 * std::sqrt(2.0 / kDraws));
  CHECK(std::abs(fourths / kDraws - 3) < 5 * std::sqrt(96.0 / kDraws));
  CHECK(std::abs(below_one / double{kDraws} - 0.841345) < 5 * std::sqrt(0.1335 / kDraws));
  CHECK(std::abs(beyond_three / double{kDraws} - 0.0026998) < 5 * std::sqrt(0.0027 / kDraws));
  CHECK(std::abs(beyond_layers / double{kDraws} - 0.0002522) < 5 * std::sqrt(0.00025 / kDraws));
}

TEST_CASE("the quick exponential is the exponential", "[tuner][sim][noise]") {
  for (double x = -40; x < 40; x += 0.00731) {
    REQUIRE(std::abs(quick_exp(x) / std::exp(x) - 1) < 1e-13);
  }
  CHECK(quick_exp(0) == 1);
}

TEST_CASE("log-normal factors have mean 1 and the variation asked for", "[tuner][sim][noise]") {
  NormalSource source(kSeed);
  const LogNormal noise(0.5);
  double sum = 0;
  double squares = 0;
  double least = 1;
  for (int i = 0; i < kDraws; ++i) {
    const double factor = noise.next(source);
    sum += factor;
    squares += factor * factor;
    least = std::min(least, factor);
  }
  const double mean = sum / kDraws;
  CHECK(std::abs(mean - 1) < 5 * 0.5 / std::sqrt(kDraws));
  CHECK(std::abs(std::sqrt(squares / kDraws - mean * mean) - 0.5) < 0.01);
  CHECK(least > 0);
}

TEST_CASE("without variation a factor is 1 and nothing is drawn", "[tuner][sim][noise]") {
  NormalSource source(kSeed);
  NormalSource untouched(kSeed);
  CHECK(LogNormal(0).next(source) == 1);
  CHECK(source.next() == untouched.next());
}

}  // namespace forebay::tuner
