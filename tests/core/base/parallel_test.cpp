#include "core/base/thread/parallel.h"

#include <vector>

#include "core/base/thread/shared_count.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("every index is visited once, by any number of threads", "[core][base]") {
  for (const int threads : {-1, 0, 1, 3, 100}) {
    std::vector<int> visits(50);
    SharedCount count(7);
    for_each_in_parallel(visits.size(), threads, [&](std::size_t i) {
      ++visits[i];
      count.add(1);
    });
    INFO(threads << " threads");
    CHECK(visits == std::vector<int>(50, 1));
    CHECK(count.get() == 57);
  }
  for_each_in_parallel(0, 4, [](std::size_t) { FAIL("nothing is to be visited"); });
}

}  // namespace
}  // namespace forebay
