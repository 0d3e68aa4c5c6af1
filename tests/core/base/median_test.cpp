#include "core/base/median.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

TEST_CASE("the median is the value in the middle, or the mean of the two there", "[core][median]") {
  CHECK(median({7}) == 7);
  CHECK(median({9, 1, 4}) == 4);
  CHECK(median({8, 1, 100, 2}) == 5);
  CHECK(median({3, 3, 3, 3}) == 3);
}

}  // namespace
}  // namespace forebay
