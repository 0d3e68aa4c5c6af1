#include <array>
#include <cmath>
#include <random>

#include "engine/run/memory_watch.h"

#include "tests/support/catch.h"

namespace forebay {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kFirst = 0;
constexpr std::size_t kSecond = 1;

/// Threads that each call one function after another, with a clock and memory that the test sets.
struct Process {
  void enter(std::size_t number) { growth.enter(number, now, bytes); }
  void leave(std::size_t number) { growth.leave(number, now, bytes); }
  void pass(std::chrono::nanoseconds time, std::int64_t more = 0) {
    now += time;
    bytes += more;
  }

  GrowthAttribution growth;
  std::chrono::nanoseconds now{0};
  std::int64_t bytes = 1'000'000;
};

}  // namespace

TEST_CASE("no function is likely before anything grew", "[tools][growth]") {
  Process process;
  CHECK_FALSE(process.growth.likely());
  process.enter(kFirst);
  process.pass(10ms);
  process.leave(kFirst);
  CHECK_FALSE(process.growth.likely());
  process.enter(kFirst);
  process.pass(10ms, -5000);
  process.leave(kFirst);
  CHECK_FALSE(process.growth.likely());
}

TEST_CASE("growth during calls is attributed to them, growth between them is not",
          "[tools][growth]") {
  Process process;
  for (int i = 0; i < 100; ++i) {
    process.enter(kFirst);
    process.pass(1s, 1000);
    process.leave(kFirst);
    process.pass(1s, 500);
    process.enter(kSecond);
    process.pass(1s, 500);
    process.leave(kSecond);
  }
  // Memory grows by 500 bytes a second in any case; the first function's calls add 500 more.
  const auto growth = process.growth.growth();
  REQUIRE(growth.size() == 2);
  CHECK(std::abs(growth[kFirst] - 50'000) < 600);
  CHECK(std::abs(growth[kSecond]) < 600);
  CHECK(process.growth.likely() == kFirst);
}

TEST_CASE("memory that a call returns is not growth", "[tools][growth]") {
  Process process;
  for (int i = 0; i < 100; ++i) {
    process.enter(kFirst);
    process.pass(1ms, 9'000'000);
    process.growth.note(process.now, process.bytes);
    process.pass(1ms, -9'000'000);
    process.leave(kFirst);
    process.enter(kSecond);
    process.pass(1ms, 1000);
    process.leave(kSecond);
  }
  CHECK(process.growth.likely() == kSecond);
}

TEST_CASE("a call that never ends is found by the memory resident meanwhile", "[tools][growth]") {
  Process process;
  process.pass(10ms);
  process.growth.note(process.now, process.bytes);
  process.enter(kSecond);
  for (int i = 0; i < 10; ++i) {
    process.pass(50ms, 100'000);
    process.growth.note(process.now, process.bytes);
  }
  CHECK(process.growth.likely() == kSecond);
}

// Four threads, each for 1 ms in the first function and for 19 ms on average in the second:
// whenever the first one takes memory, three threads are in the second.
TEST_CASE("a short call that leaks is found among long calls that always overlap it",
          "[tools][growth]") {
  constexpr unsigned kSeed = 7;
  INFO(kSeed);
  std::mt19937 random(kSeed);
  struct CallThread {
    std::size_t function = kSecond;
    std::uint64_t milliseconds = 1;  // the rest of its call
  };
  std::array<CallThread, 4> threads;
  Process process;
  for (const CallThread& thread : threads) process.enter(thread.function);
  for (int i = 0; i < 5000; ++i) {
    process.pass(1ms);
    for (CallThread& thread : threads) {
      if (--thread.milliseconds > 0) continue;
      if (thread.function == kFirst) process.pass(0ns, 1000);
      process.leave(thread.function);
      thread.function = thread.function == kFirst ? kSecond : kFirst;
      thread.milliseconds = thread.function == kFirst ? 1 : 10 + random() % 19;
      process.enter(thread.function);
    }
  }
  CHECK(process.growth.likely() == kFirst);
}

TEST_CASE("memory that comes at the start, in a millisecond, does not clear a call that then lasts",
          "[tools][growth]") {
  Process process;
  process.growth.note(process.now, process.bytes);
  process.pass(1ms, 20'000'000);
  process.enter(kFirst);
  process.pass(1ms);
  process.leave(kFirst);
  process.enter(kSecond);
  process.pass(500ms, 100'000'000);
  process.growth.note(process.now, process.bytes);
  CHECK(process.growth.likely() == kSecond);
  process.pass(500ms, 10'000'000);
  process.growth.note(process.now, process.bytes);
  CHECK(process.growth.likely() == kSecond);
}

}  // namespace forebay
