#include "scheduler/fewest_search.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

/// Searches where each worker makes 30 splits/s up to `limit`; returns the numbers tried.
std::vector<std::uint32_t> tried(FewestSearch& search, double limit) {
  std::vector<std::uint32_t> all;
  while (!search.done()) {
    all.push_back(search.next(0));
    while (!search.add(std::min(limit, 30.0 * all.back()))) continue;
  }
  return all;
}

TEST_CASE("the fewest workers of a shared limit are found by halves", "[scheduler]") {
  FewestSearch search(16, 0, 100);
  // 8 and 4 bring 100 of 100, 2 bring 60, 3 bring 90: less than 93.
  CHECK(tried(search, 100) == std::vector<std::uint32_t>{8, 4, 2, 3});
  CHECK(search.fewest() == 4);
}

TEST_CASE("what is known narrows a search", "[scheduler]") {
  FewestSearch search(16, 0, 100);
  search.rule_out(3);
  CHECK(search.next(4) == 4);
  CHECK_FALSE(search.add(100));
  CHECK(search.add(100));
  CHECK(search.done());
  CHECK(search.fewest() == 4);
  FewestSearch one(1, 0, 100);
  CHECK(one.done());
  FewestSearch wrong(3, 7, 100);  // more are too few than are enough: not believed
  CHECK_FALSE(wrong.done());
  wrong.rule_out(9);
  CHECK(wrong.done());
}

TEST_CASE("a rate near the border is measured longer", "[scheduler]") {
  FewestSearch search(16, 0, 100);
  search.next(0);
  for (int i = 0; i < 4; ++i) CHECK_FALSE(search.add(92));
  CHECK(search.add(92));
  CHECK(search.fewest() == 16);
  CHECK(search.next(0) == 12);
}

}  // namespace
}  // namespace forebay::scheduler
