#include "core/runtime/timer_queue.h"

#include <vector>

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a timer queue runs the timers that are due, the earliest first", "[core][timer]") {
  TimerQueue queue;
  std::vector<int> ran;
  queue.add(30ns, [&] { ran.push_back(30); });
  queue.add(10ns, [&] { ran.push_back(10); });
  queue.add(20ns, [&] { ran.push_back(20); });
  queue.add(20ns, [&] { ran.push_back(21); });
  CHECK(queue.fire(9ns) == 10ns);
  CHECK(ran.empty());
  CHECK(queue.fire(20ns) == 30ns);
  CHECK(ran == std::vector<int>{10, 20, 21});
  CHECK_FALSE(queue.fire(30ns));
  CHECK(ran.size() == 4);
}

TEST_CASE("a cancelled timer does not run", "[core][timer]") {
  TimerQueue queue;
  int ran = 0;
  const auto key = queue.add(10ns, [&] { ++ran; });
  queue.add(10ns, [&] { ++ran; });
  queue.cancel(key);
  queue.cancel(key);
  CHECK_FALSE(queue.fire(10ns));
  CHECK(ran == 1);
}

TEST_CASE("a timer queue reports when its next deadline moves earlier", "[core][timer]") {
  int sooner = 0;
  TimerQueue queue([&](TimerQueue::Time) { ++sooner; });
  queue.add(20ns, [] {});
  queue.add(30ns, [] {});
  CHECK(sooner == 1);
  queue.add(10ns, [] {});
  CHECK(sooner == 2);
}

}  // namespace
}  // namespace forebay
