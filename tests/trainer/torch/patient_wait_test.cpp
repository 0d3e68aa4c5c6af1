#include <stdexcept>

#include "trainer/torch/c10d_quirks.h"

#include "tests/support/catch.h"

using namespace forebay;

namespace {

/// An operation that ends, or fails, after a number of looks at it.
struct Operation {
  int looks_it_takes = 0;
  bool over_behind_the_look = false;  // between the look's timeout and the next isCompleted()
  bool fails = false;
  int looks = 0;
  bool completed = false;

  bool isCompleted() const { return completed; }
  bool wait() const {
    if (fails) throw std::runtime_error("broken");
    return true;
  }
  bool wait(std::chrono::milliseconds) {
    completed = ++looks > looks_it_takes;
    if (completed) return wait();
    completed = over_behind_the_look && looks == looks_it_takes;
    throw std::runtime_error("timed out");
  }
};

constexpr auto kNever = [] { return false; };

}  // namespace

TEST_CASE("an operation is waited for, however many looks it takes", "[trainer][collective]") {
  Operation operation{.looks_it_takes = GENERATE(0, 1, 5)};
  CHECK(wait_patiently(operation, kNever));
  CHECK(operation.looks == operation.looks_it_takes + 1);
}

TEST_CASE("an operation that ends as a look times out has not failed", "[trainer][collective]") {
  Operation operation{.looks_it_takes = 2, .over_behind_the_look = true};
  CHECK(wait_patiently(operation, kNever));
}

TEST_CASE("the reported failure is the operation's, not the timeout of a look",
          "[trainer][collective]") {
  Operation operation{
      .looks_it_takes = 2, .over_behind_the_look = GENERATE(false, true), .fails = true};
  CHECK_THROWS_WITH(wait_patiently(operation, kNever), "broken");
}

TEST_CASE("polling stops once the wait is given up", "[trainer][collective]") {
  Operation operation{.looks_it_takes = 1000};
  CHECK_FALSE(wait_patiently(operation, [&] { return operation.looks == 3; }));
}
