#include "core/base/deadline.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a deadline lies after now by the patience, by a century at most", "[base]") {
  CHECK(deadline_after(5s, 2s) == 7s);
  CHECK(deadline_after(5s, -1s) == 4s);
  constexpr auto kAlways = std::chrono::nanoseconds::max();
  CHECK(deadline_after(5s, kAlways) > 24h * 365 * 99);
  CHECK(deadline_after(deadline_after(5s, kAlways), 1h) > deadline_after(5s, kAlways));
}

}  // namespace
}  // namespace forebay
