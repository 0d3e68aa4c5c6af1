#include "tuner/cluster/thread_count.h"

#include <string>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A model with `now` threads of at most four, which brings `value` splits/s.
ThreadsSeen seen(std::uint32_t now, double value) {
  return {.now = now, .most = 4, .value = value, .fed = true, .quiet = true};
}

std::uint32_t after(ThreadCount& count, const ThreadsSeen& seen, int intervals) {
  std::uint32_t threads = 0;
  for (int i = 0; i < intervals; ++i) threads = count.decide(seen);
  return threads;
}

TEST_CASE("another number of threads is tried after two intervals that settle and three that count",
          "[tuner][thread_count]") {
  ThreadCount count;
  CHECK(after(count, seen(2, 100), 4) == 2);
  CHECK_FALSE(count.tries());
  CHECK(count.decide(seen(2, 100)) == 3);
  CHECK(count.tries());
  CHECK(std::string(count.why()) == "tries more");
}

TEST_CASE("a number that brings three percent more is kept, and another is not",
          "[tuner][thread_count]") {
  ThreadCount count;
  static_cast<void>(after(count, seen(2, 100), 5));
  const bool more = GENERATE(true, false);
  static_cast<void>(after(count, seen(3, more ? 104 : 102), 4));
  CHECK(count.tries());
  CHECK(count.decide(seen(3, more ? 104 : 102)) == (more ? 3 : 2));
  CHECK(count.kept() == more);
  CHECK(std::string(count.why()) == (more ? "more train more" : "more train no more"));
  static_cast<void>(count.decide(seen(more ? 3 : 2, 100)));
  CHECK_FALSE(count.kept());  // Only the decision that ended the trial says so.
}

TEST_CASE("nothing is tried while workers are tried or nodes change", "[tuner][thread_count]") {
  ThreadCount count;
  ThreadsSeen disturbed = seen(2, 100);
  disturbed.quiet = false;
  CHECK(after(count, disturbed, 30) == 2);
  CHECK(after(count, seen(2, 100), 4) == 2);  // It measures from the beginning.
  CHECK(count.decide(disturbed) == 2);
  CHECK(after(count, seen(2, 100), 4) == 2);
  CHECK(count.decide(seen(2, 100)) == 3);
}

TEST_CASE("a trial is given up when nodes change", "[tuner][thread_count]") {
  ThreadCount count;
  static_cast<void>(after(count, seen(2, 100), 5));
  ThreadsSeen disturbed = seen(3, 200);
  disturbed.quiet = false;
  CHECK(count.decide(disturbed) == 2);
  CHECK_FALSE(count.tries());
  CHECK_FALSE(count.kept());
  CHECK(std::string(count.why()) == "a trial was given up: nodes changed");
}

TEST_CASE("a trainer that waits for data is given no more threads, but may have fewer",
          "[tuner][thread_count]") {
  ThreadCount count;
  ThreadsSeen starved = seen(2, 100);
  starved.fed = false;
  CHECK(after(count, starved, 5) == 1);
  ThreadCount one;
  starved.now = 1;
  CHECK(after(one, starved, 60) == 1);
  CHECK(after(one, seen(1, 100), 5) == 2);  // Once it is fed, a rest ends.
}

TEST_CASE("a model that keeps another number is searched for from there", "[tuner][thread_count]") {
  ThreadCount count;
  CHECK(after(count, seen(2, 100), 1) == 2);
  CHECK(after(count, seen(4, 100), 2) == 2);
  CHECK(count.decide(seen(4, 100)) == 4);
}

TEST_CASE("an interval in which the model has not obeyed yet is not judged",
          "[tuner][thread_count]") {
  ThreadCount count;
  CHECK(after(count, seen(2, 100), 5) == 3);
  CHECK(after(count, seen(2, 50), 2) == 3);
  static_cast<void>(after(count, seen(3, 200), 4));
  CHECK(count.tries());
  CHECK(count.decide(seen(3, 200)) == 3);
  CHECK(count.kept());
}

TEST_CASE("a search begins anew when the model may have another number", "[tuner][thread_count]") {
  ThreadCount count;
  ThreadsSeen two = seen(2, 100);
  two.most = 2;
  CHECK(after(count, two, 5) == 1);
  CHECK(after(count, seen(2, 100), 5) == 2);
  CHECK(count.decide(seen(2, 100)) == 3);
}

TEST_CASE("threads that may not change are the model's own", "[tuner][thread_count]") {
  ThreadCount count;
  CHECK(after(count, {.now = 2, .most = 0, .value = 100, .fed = true, .quiet = true}, 9) == 0);
  CHECK(after(count, {.now = 1, .most = 1, .value = 100, .fed = true, .quiet = true}, 9) == 0);
  static_cast<void>(after(count, seen(2, 100), 5));
  CHECK(count.tries());
  CHECK(count.decide({.now = 3, .most = 0}) == 0);
  CHECK_FALSE(count.tries());
}

TEST_CASE("an interval without a step of the trainer is no measurement", "[tuner][thread_count]") {
  ThreadCount count;
  CHECK(after(count, seen(2, 0), 20) == 2);
  CHECK(after(count, seen(2, 100), 4) == 2);
  CHECK(count.decide(seen(2, 100)) == 3);
}

}  // namespace
}  // namespace forebay::tuner
