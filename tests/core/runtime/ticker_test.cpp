#include "core/runtime/ticker.h"

#include <atomic>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "core/runtime/synchronized.h"
#include "tests/support/wait_until.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a ticker calls its function again and again until its end", "[core][ticker]") {
  std::atomic<int> ticks = 0;
  std::optional<Ticker> ticker;
  ticker.emplace(1ms, [&] { ++ticks; });
  test::wait_until([&] { return ticks >= 3; });
  ticker.reset();
  const int before = ticks;
  for (int i = 0; i < 1000; ++i) std::this_thread::yield();
  CHECK(ticks == before);
}

TEST_CASE("the end of a ticker waits for the call under way", "[core][ticker]") {
  Latch begun;
  Latch gate;
  std::atomic<bool> ended = false;
  std::optional<Ticker> ticker;
  ticker.emplace(1ms, [&] {
    begun.open();
    gate.wait();
    ended = true;
  });
  begun.wait();
  std::thread opener([&] { gate.open(); });
  ticker.reset();
  CHECK(ended);
  opener.join();
}

TEST_CASE("a function that throws is reported and called again", "[core][ticker]") {
  std::atomic<int> ticks = 0;
  std::atomic<int> failures = 0;
  std::atomic<bool> named = true;
  const Ticker ticker(
      1ms,
      [&] {
        if (++ticks <= 2) throw std::runtime_error("it broke");
      },
      [&](const Error& error) {
        named = named && error.message == "it broke";
        ++failures;
      });
  test::wait_until([&] { return ticks >= 4; });
  CHECK(failures == 2);
  CHECK(named);
}

}  // namespace
}  // namespace forebay
