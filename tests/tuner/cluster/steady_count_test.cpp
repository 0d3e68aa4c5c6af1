#include "tuner/cluster/steady_count.h"

#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

std::vector<std::uint32_t> steady(const std::vector<std::uint32_t>& computed) {
  SteadyCount count;
  std::vector<std::uint32_t> result;
  for (const std::uint32_t number : computed) result.push_back(count.of(number));
  return result;
}

using Numbers = std::vector<std::uint32_t>;

TEST_CASE("a steady count begins with the first number", "[tuner][steady_count]") {
  CHECK(steady({7}) == Numbers{7});
}

TEST_CASE("a number that flips between two values stays", "[tuner][steady_count]") {
  CHECK(steady({4, 5, 4, 5, 4, 3, 4, 3, 3, 4}) == Numbers(10, 4));
}

TEST_CASE("a steady count rises after two intervals to the least of their numbers",
          "[tuner][steady_count]") {
  CHECK(steady({4, 9, 6, 6}) == Numbers{4, 4, 6, 6});
}

TEST_CASE("a steady count falls after three intervals to the most of their numbers",
          "[tuner][steady_count]") {
  CHECK(steady({9, 4, 6, 5, 5, 5, 5}) == Numbers{9, 9, 9, 6, 6, 6, 5});
}

TEST_CASE("numbers on both sides of a steady count do not add up", "[tuner][steady_count]") {
  CHECK(steady({5, 6, 4, 6, 4, 4, 6}) == Numbers(7, 5));
}

}  // namespace
}  // namespace forebay::tuner
