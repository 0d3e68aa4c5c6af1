#include "tuner/thread_search.h"

#include <functional>
#include <vector>

#include "core/base/random.h"

#include "tests/support/catch.h"

using namespace forebay::tuner;

namespace {

constexpr ThreadSearch::Options kQuick{.start = 1, .most = 4, .settle = 1, .windows = 3};

/// The rate at which a job trains with so many threads.
using Job = std::function<double(int threads)>;

/// Feeds the search windows of a job, until it rests; returns the trials.
std::vector<ThreadTrial> search(ThreadSearch& search, const Job& job, int most_windows = 1000) {
  std::vector<ThreadTrial> trials;
  for (int window = 0; window < most_windows && !search.rests(); ++window) {
    if (const auto trial = search.add(job(search.threads()))) trials.push_back(*trial);
  }
  return trials;
}

void rest(ThreadSearch& search, const Job& job, int windows) {
  for (int window = 0; window < windows; ++window) {
    static_cast<void>(search.add(job(search.threads())));
  }
}

double faster_with_more(int threads) { return 1000.0 * threads; }
double faster_with_fewer(int threads) { return 1000.0 / threads; }

}  // namespace

TEST_CASE("a search takes a measurement of each number in turn, settling first",
          "[tuner][threads]") {
  ThreadSearch threads({.start = 1, .most = 2, .settle = 1, .windows = 3});
  // One window to settle and three that count, for the current single thread. 900 is left out.
  for (double rate : {900, 100, 300}) CHECK_FALSE(threads.add(rate));
  CHECK(threads.threads() == 1);
  CHECK_FALSE(threads.add(200));
  CHECK(threads.threads() == 2);
  // The same of two: the median of 400, 230 and 210 is 15 % above 200.
  for (double rate : {1.0, 400.0, 230.0}) CHECK_FALSE(threads.add(rate));
  const auto trial = threads.add(210);
  REQUIRE(trial);
  CHECK(trial->before == 1);
  CHECK(trial->tried == 2);
  CHECK(trial->rate_before == 200);
  CHECK(trial->rate_tried == 230);
  CHECK(trial->kept);
  CHECK(threads.threads() == 2);
  // More threads are not allowed, and fewer were just worse: after a measurement it rests.
  for (int window = 0; window < 4; ++window) CHECK_FALSE(threads.add(230));
  CHECK(threads.rests());
}

TEST_CASE("a trial that is far slower ends after two windows", "[tuner][threads]") {
  ThreadSearch threads({.start = 2, .most = 2, .settle = 0, .windows = 4, .hopeless = 0.1});
  for (int window = 0; window < 4; ++window) CHECK_FALSE(threads.add(100));
  REQUIRE(threads.threads() == 1);
  SECTION("both below nine tenths") {
    CHECK_FALSE(threads.add(89));
    const auto trial = threads.add(80);
    REQUIRE(trial);
    CHECK_FALSE(trial->kept);
    CHECK(threads.threads() == 2);
  }
  SECTION("one of them is not") {
    for (double rate : {80.0, 91.0, 80.0}) CHECK_FALSE(threads.add(rate));
    CHECK(threads.threads() == 1);
    CHECK(threads.add(80));
  }
}

TEST_CASE("no number above the most that is allowed is tried, and a rest ends when more is",
          "[tuner][threads]") {
  ThreadSearch threads({.start = 1, .most = 4, .settle = 0, .windows = 1, .rest = 100});
  threads.allow(1);
  CHECK_FALSE(threads.add(100));
  CHECK(threads.rests());
  rest(threads, faster_with_more, 20);
  CHECK(threads.settled() == 1);
  threads.allow(2);
  CHECK_FALSE(threads.rests());
  CHECK_FALSE(threads.add(1000));
  CHECK(threads.threads() == 2);
  CHECK(threads.tries());
  threads.allow(1);  // What is on trial goes on.
  CHECK(threads.add(2000)->kept);
  CHECK(threads.settled() == 2);
}

TEST_CASE("an interrupted search gives up its trial and measures anew", "[tuner][threads]") {
  ThreadSearch threads({.start = 2, .most = 3, .settle = 0, .windows = 2});
  CHECK_FALSE(threads.add(100));
  threads.interrupt();
  CHECK_FALSE(threads.add(100));
  CHECK_FALSE(threads.tries());
  CHECK_FALSE(threads.add(100));
  REQUIRE(threads.threads() == 3);
  threads.interrupt();
  CHECK(threads.threads() == 2);
  CHECK_FALSE(threads.tries());
  CHECK_FALSE(threads.add(100));
  CHECK_FALSE(threads.add(100));
  CHECK(threads.threads() == 3);  // It was not judged, so it is tried again.
}

TEST_CASE("an interrupted rest goes on", "[tuner][threads]") {
  ThreadSearch threads(kQuick);
  static_cast<void>(search(threads, faster_with_fewer));
  REQUIRE(threads.rests());
  threads.interrupt();
  threads.allow(4);  // As many as before, of which one more was tried.
  CHECK(threads.rests());
}

TEST_CASE("a search climbs to the fastest number from either side", "[tuner][threads]") {
  const std::vector<double> rates = {0, 100, 130, 120, 80};  // Two are best.
  const int start = GENERATE(1, 2, 3, 4);
  ThreadSearch threads({.start = start, .most = 4, .settle = 1, .windows = 3});
  search(threads, [&](int n) { return rates[static_cast<std::size_t>(n)]; });
  CHECK(threads.rests());
  CHECK(threads.threads() == 2);
}

TEST_CASE("a search stays within one thread and the most there may be", "[tuner][threads]") {
  ThreadSearch up(kQuick);
  search(up, faster_with_more);
  CHECK(up.threads() == 4);
  ThreadSearch down({.start = 4, .most = 4, .settle = 1, .windows = 3});
  search(down, faster_with_fewer);
  CHECK(down.threads() == 1);
  ThreadSearch alone({.start = 7, .most = 1});
  CHECK(search(alone, faster_with_more).empty());
  CHECK(alone.threads() == 1);
}

TEST_CASE("a number that is faster by less than the gain is not kept", "[tuner][threads]") {
  ThreadSearch threads({.start = 1, .most = 2, .settle = 0, .windows = 1, .gain = 0.03});
  const auto trials = search(threads, [](int n) { return n == 1 ? 100 : 102.9; });
  REQUIRE(trials.size() == 1);
  CHECK_FALSE(trials[0].kept);
  CHECK(threads.threads() == 1);
}

TEST_CASE("a search that rests tries again when the rate has changed for good",
          "[tuner][threads]") {
  ThreadSearch threads(kQuick);
  search(threads, faster_with_more);
  REQUIRE(threads.rests());
  rest(threads, faster_with_more, 40);
  CHECK(threads.rests());
  // One odd window does not move the median of three.
  CHECK_FALSE(threads.add(1));
  rest(threads, faster_with_more, 5);
  CHECK(threads.rests());
  rest(threads, faster_with_fewer, 6);
  CHECK_FALSE(threads.rests());
  search(threads, faster_with_fewer);
  CHECK(threads.threads() == 1);
}

TEST_CASE("a search rests longer each time nothing was gained", "[tuner][threads]") {
  ThreadSearch threads(
      {.start = 1, .most = 2, .settle = 0, .windows = 1, .rest = 10, .most_rest = 40});
  std::vector<int> rests;
  const Job same = [](int) { return 100.0; };
  for (int turn = 0; turn < 5; ++turn) {
    search(threads, same);
    int rested = 0;
    for (; threads.rests(); ++rested) static_cast<void>(threads.add(100));
    rests.push_back(rested);
  }
  CHECK(rests == std::vector<int>{10, 20, 40, 40, 40});
}

TEST_CASE("noise below the gain moves nothing for long", "[tuner][threads]") {
  const std::uint64_t seed = GENERATE(1, 2, 3, 4, 5);
  INFO("seed " << seed);
  forebay::Random random(seed);
  ThreadSearch threads({.start = 3, .most = 4});
  const std::vector<double> rates = {0, 60, 80, 100, 80};
  int elsewhere = 0;
  for (int window = 0; window < 2000; ++window) {
    const double noise = 0.98 + 0.04 * static_cast<double>(random.below(1000)) / 1000;
    static_cast<void>(threads.add(noise * rates[static_cast<std::size_t>(threads.threads())]));
    if (threads.threads() != 3) ++elsewhere;
  }
  CHECK(elsewhere < 200);  // Trials of its neighbours, at growing intervals.
  CHECK(threads.threads() == 3);
}
