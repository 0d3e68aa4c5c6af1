#include "tuner/model/expected_rate.h"

#include <array>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

constexpr std::array kCosts{StageCost{.seconds = 0.1}, StageCost{.seconds = 0.1}};
constexpr std::array kQuiet{0.0, 0.0};
constexpr std::array kNoisy{0.5, 0.5};
constexpr std::array<std::uint32_t, 2> kFour{4, 4};
constexpr std::array<std::uint32_t, 2> kEight{8, 8};

TEST_CASE("without noise the expected rate is the steady one", "[tuner][model]") {
  CHECK(expected_rate(kCosts, kQuiet, kFour, {8}) == Approx(40));
}

TEST_CASE("noise costs a line whose stages are only just fast enough", "[tuner][model]") {
  // No stage has headroom: each loses noise² / (2·8) / 2. And the CPUs: as many actors as they are,
  // all busy, so that nothing is left to vary.
  const double tight = expected_rate(kCosts, kNoisy, kFour, {8});
  CHECK(tight == Approx(40 * (1 - 2 * 0.25 / 16 / 2)).epsilon(1e-4));
}

TEST_CASE("headroom regains the rate that noise costs", "[tuner][model]") {
  CHECK(expected_rate(kCosts, kNoisy, kEight, {8}) > 0.99 * 40);
  CHECK(expected_rate(kCosts, kNoisy, kEight, {8}) > expected_rate(kCosts, kNoisy, kFour, {8}));
}

TEST_CASE("CPUs idle at times where hardly more actors want them than there are",
          "[tuner][model]") {
  // At 40/s every stage of five actors is busy for 4/5: one spare actor, and as many want a CPU as
  // there are, give or take 5·2·4/5·1/5 = 1.6 of variance: 0.5·1.265/8·G(1/1.265), G(0.79) = 0.122.
  constexpr std::array<std::uint32_t, 2> kFive{5, 5};
  CHECK(expected_rate(kCosts, kQuiet, kFive, {8}) == Approx(40 * (1 - 0.00964)).epsilon(1e-3));
}

TEST_CASE("a loss scale multiplies the lost rate", "[tuner][model]") {
  const double lost = 40 - expected_rate(kCosts, kNoisy, kFour, {8});
  CHECK(40 - expected_rate(kCosts, kNoisy, kFour, {8, 0, 3}) == Approx(3 * lost));
}

TEST_CASE("a stage at its rate limit misses starts when no actor is free", "[tuner][model]") {
  const std::array<StageCost, 1> limited{StageCost{.seconds = 1, .cpu = 0.01, .max_rate = 20}};
  const std::array<double, 1> noise{0.5};
  const std::array<std::uint32_t, 1> just{20};
  const std::array<std::uint32_t, 1> more{28};
  CHECK(expected_rate(limited, noise, just, {8}) < 0.96 * 20);
  CHECK(expected_rate(limited, noise, more, {8}) > 0.99 * 20);
}

}  // namespace
}  // namespace forebay::tuner
