#include <set>

#include "core/base/random.h"
#include "tuner/sim/stage_state.h"

#include "tests/support/catch.h"

namespace forebay::tuner {

TEST_CASE("the heap returns services in the order of their ends, each with its own data",
          "[tuner][sim][heap]") {
  constexpr std::uint64_t kSeed = 7;
  Random random(kSeed);
  ServiceHeap heap;
  std::multiset<double> expected;
  heap.reserve(100);
  for (int step = 0; step < 20'000; ++step) {
    const double end = random.uniform();
    const Service service{.work = end / 2};
    const bool full = expected.size() == 100;
    switch (expected.empty() ? 0 : full ? 1 + random.below(2) : random.below(3)) {
      case 0:
        heap.push(end, service);
        break;
      case 1:
        expected.erase(expected.begin());
        heap.replace_top(end, service);
        break;
      default:
        expected.erase(expected.begin());
        heap.pop();
        REQUIRE(heap.size() == expected.size());
        continue;
    }
    expected.insert(end);
    REQUIRE(heap.top_end() == *expected.begin());
    REQUIRE(heap.top().work == heap.top_end() / 2);
  }
}

TEST_CASE("progress is the finished share of the work", "[tuner][sim][heap]") {
  ServiceHeap heap;
  heap.reserve(2);
  heap.push(10, {.work = 4});  // Began when the clock showed 6,
  heap.push(9, {.work = 1});   // and at 8.
  CHECK(heap.progress(8.5) == 2.5 + 0.5);
}

}  // namespace forebay::tuner
