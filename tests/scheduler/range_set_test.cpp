#include "scheduler/range_set.h"

#include <set>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

TEST_CASE("ranges that touch become one", "[scheduler]") {
  RangeSet set;
  CHECK(set.add(5, 7) == 3);
  CHECK(set.add(10, 10) == 1);
  CHECK(set.packed().size() / 2 == 2);
  CHECK(set.lowest_missing() == 0);
  CHECK(set.add(6, 9) == 2);  // 8 and 9 are new.
  CHECK(set.ahead() == std::vector<SplitRange>{{5, 10}});
  CHECK(set.add_below(5) == 5);
  CHECK(set.packed().size() / 2 == 1);
  CHECK(set.lowest_missing() == 11);
  CHECK(set.ahead().empty());
  CHECK(set.size() == 11);
  CHECK(set.add(3, 2) == 0);
}

TEST_CASE("a set of ranges equals a plain set after any additions", "[scheduler]") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    RangeSet ranges;
    std::set<std::uint64_t> numbers;
    for (int step = 0; step < 40; ++step) {
      const std::uint64_t first = random.below(100);
      const std::uint64_t last = first + random.below(8);
      std::uint64_t added = 0;
      for (std::uint64_t n = first; n <= last; ++n) added += numbers.insert(n).second ? 1 : 0;
      REQUIRE(ranges.add(first, last) == added);
      REQUIRE(ranges.size() == numbers.size());
    }
    std::size_t runs = 0;
    std::uint64_t missing = 0;
    while (numbers.contains(missing)) ++missing;
    for (std::uint64_t n = 0; n < 110; ++n) {
      REQUIRE(ranges.contains(n) == numbers.contains(n));
      runs += numbers.contains(n) && !numbers.contains(n + 1) ? 1 : 0;
    }
    REQUIRE(ranges.packed().size() / 2 == runs);
    REQUIRE(ranges.lowest_missing() == missing);
    REQUIRE(RangeSet::unpack(ranges.packed()).value() == ranges);
  }
}

TEST_CASE("numbers at the end of the range of a number do no harm", "[scheduler]") {
  constexpr std::uint64_t kLast = ~std::uint64_t{0};
  RangeSet set;
  set.add(kLast - 1, kLast);
  CHECK(set.add(kLast, kLast) == 0);
  CHECK(set.add(kLast - 3, kLast - 2) == 2);
  CHECK(set.packed().size() / 2 == 1);
}

TEST_CASE("packed ranges that overlap, touch or overflow are refused", "[scheduler]") {
  CHECK(RangeSet::unpack({3, 2, 2, 0}).value().ahead() == std::vector<SplitRange>{{3, 5}, {7, 7}});
  CHECK_FALSE(RangeSet::unpack({3, 2, 1, 0}));
  CHECK_FALSE(RangeSet::unpack({3, 2, 0, 0}));
  CHECK_FALSE(RangeSet::unpack({3, ~std::uint64_t{0}}));
  CHECK_FALSE(RangeSet::unpack({3, 2, ~std::uint64_t{0}, 0}));
}

}  // namespace
}  // namespace forebay::scheduler
