#include "engine/cluster/thread_advice.h"

#include "tests/support/manual_clock.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("the latest advice on threads counts until five periods have passed without another",
          "[engine][thread_advice]") {
  test::ManualClock clock;
  ThreadAdvice advice(clock, 2s);
  CHECK(advice.latest() == 0);  // Until the first decision the number stays.
  clock.advance(10s);
  advice.advise(3);
  advice.advise(3);
  CHECK(advice.latest() == 3);
  clock.advance(10s);
  CHECK(advice.latest() == 3);
  clock.advance(1ms);
  CHECK_FALSE(advice.latest());
  advice.advise(2);
  CHECK(advice.latest() == 2);
}

TEST_CASE("a central tuner that never decides is silent five periods after the first report",
          "[engine][thread_advice]") {
  test::ManualClock clock;
  ThreadAdvice advice(clock, 2s);
  clock.advance(60s);
  CHECK(advice.latest() == 0);  // The trainer has not begun: no node may have asked yet.
  advice.report(2, 4);
  clock.advance(10s);
  advice.report(2, 4);
  CHECK(advice.latest() == 0);
  clock.advance(1ms);
  CHECK_FALSE(advice.latest());
}

}  // namespace
}  // namespace forebay
