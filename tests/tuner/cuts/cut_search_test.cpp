#include "tuner/cuts/cut_search.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

const Joins kMay{false, true, true};
const Joins kApart{false, false, false};
const Joins kLoadApart{false, false, true};

/// The first stage waits for nine tenths of its time, the others compute.
CutInterval waiting(double splits_per_second) {
  return {.splits_per_second = splits_per_second,
          .used = 0.5,
          .wanted = 0.6,
          .waiting = {0.9, 0.05, 0}};
}

CutInterval computing(double splits_per_second) {
  return {.splits_per_second = splits_per_second,
          .used = 0.9,
          .wanted = 0.99,
          .waiting = {0.1, 0.02, 0}};
}

/// Adds intervals until a trial begins, at most 20; returns their number.
int until_trial(CutSearch& search, const CutInterval& seen) {
  int count = 0;
  while (!search.trial() && count < 20) {
    search.add(seen);
    ++count;
  }
  return count;
}

/// Adds intervals until the trial ends.
CutTrial until_verdict(CutSearch& search, const CutInterval& seen) {
  std::optional<CutTrial> ended;
  for (int i = 0; i < 20 && !ended; ++i) ended = search.add(seen);
  REQUIRE(ended);
  return *ended;
}

}  // namespace

TEST_CASE("where the CPUs have room, a stage that waits is cut from those that compute",
          "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  CHECK(until_trial(search, waiting(10)) == 5);  // the first says nothing, four a rate
  CHECK(search.joins() == kLoadApart);
  const CutTrial trial = until_verdict(search, waiting(12));
  CHECK(trial.kept);
  CHECK(trial.rate_before == 10);
  CHECK(trial.rate_tried == 12);
  CHECK(search.joins() == kLoadApart);
}

TEST_CASE("cuts that bring nothing go back, and are tried again after a rest or other work",
          "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  until_trial(search, waiting(10));
  CHECK_FALSE(until_verdict(search, waiting(10.2)).kept);
  CHECK(search.joins() == kMay);
  CHECK(until_trial(search, waiting(10)) == 20);

  SECTION("a rest") { CHECK(until_trial(search, waiting(10)) == 10); }
  SECTION("a rate that has changed for good") { CHECK(until_trial(search, waiting(5)) <= 5); }
}

TEST_CASE("what has failed is not tried again before its loss is a twentieth of the rate since",
          "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  until_trial(search, waiting(10));
  CHECK_FALSE(until_verdict(search, waiting(4)).kept);  // three intervals at four tenths
  // 1.8 intervals less 0.05 for each of the three: 33 more, though the work seems to change.
  for (int i = 0; i < 32; ++i) {
    search.add(waiting(i % 8 < 4 ? 10 : 5));
    CHECK_FALSE(search.trial());
  }
  CHECK(until_trial(search, waiting(5)) <= 5);
}

TEST_CASE("a trial that costs a tenth of the rate ends after two intervals", "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  until_trial(search, waiting(10));
  CHECK_FALSE(search.add(waiting(9)));  // has splits that were made before
  CHECK_FALSE(search.add(waiting(8)));
  const auto ended = search.add(waiting(8.5));
  REQUIRE(ended);
  CHECK_FALSE(ended->kept);
}

TEST_CASE("a trial goes on while its rate grows", "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  until_trial(search, waiting(10));
  double rate = 9.5;
  std::optional<CutTrial> ended;
  int intervals = 0;
  for (; !ended && intervals < 8; ++intervals) ended = search.add(waiting(rate *= 1.1));
  CHECK_FALSE(ended);
  CHECK(until_verdict(search, waiting(20)).kept);
}

TEST_CASE("nothing is tried while the rate grows, or the trainer is fed", "[tuner][cuts]") {
  CutSearch growing(kMay, kMay);
  double rate = 1;
  for (int i = 0; i < 20; ++i) growing.add(waiting(rate *= 1.2));
  CHECK_FALSE(growing.trial());

  CutSearch fed(kMay, kMay);
  CutInterval seen = waiting(10);
  seen.fed = true;
  CHECK(until_trial(fed, seen) == 20);
}

TEST_CASE("nothing is tried where the CPUs have little room and are no limit", "[tuner][cuts]") {
  CutSearch search(kMay, kLoadApart);
  CutInterval seen = waiting(10);
  seen.waiting[2] = 0.9;
  seen.used = seen.wanted = 0.9;
  CHECK(until_trial(search, seen) == 20);
  seen.used = 0.8;
  CHECK(until_trial(search, seen) == 1);
}

// As with a slow disk: the splits that come from it together wait for a CPU, which then idles.
TEST_CASE("a stage that waits is apart though splits wait for CPUs that have room",
          "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  CutInterval seen = waiting(10);
  seen.wanted = 3;
  until_trial(search, seen);
  CHECK(search.joins() == kLoadApart);
  until_verdict(search, waiting(20));
  seen.splits_per_second = 20;
  CHECK(until_trial(search, seen) == 20);
}

TEST_CASE("where the CPUs are the limit, stages are joined again, those that are alike first",
          "[tuner][cuts]") {
  CutSearch search(kMay, kApart);
  until_trial(search, computing(10));
  CHECK(search.joins() == kLoadApart);
  until_verdict(search, computing(11));
  until_trial(search, computing(11));
  CHECK(search.joins() == kMay);

  CutSearch bound({false, false, true}, kApart);
  until_trial(bound, computing(10));
  CHECK(bound.joins() == kLoadApart);
  until_verdict(bound, computing(11));
  CHECK(until_trial(bound, computing(11)) == 20);
}

TEST_CASE("stages that wait alike stay together", "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  CutInterval seen = waiting(10);
  seen.waiting = {0.5, 0.4, 0.55};
  CHECK(until_trial(search, seen) == 20);
}

TEST_CASE("the search goes on from cuts that others have set", "[tuner][cuts]") {
  CutSearch search(kMay, kMay);
  until_trial(search, waiting(10));
  search.adopt(kApart);
  CHECK_FALSE(search.trial());
  CHECK(search.joins() == kApart);
  CHECK(until_trial(search, waiting(10)) == 20);  // load is apart already
}

}  // namespace forebay::tuner
