#include "scheduler/missing_workers.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

/// The seconds until workers that are missing are asked for once more.
double seconds_until_again(MissingWorkers& missing) {
  double seconds = 1;
  while (!missing.again(4, 3, 1)) ++seconds;
  return seconds;
}

TEST_CASE("workers that were never asked for are asked for at once", "[scheduler][autoscaler]") {
  MissingWorkers missing;
  CHECK(missing.again(1, 0, 1));
}

TEST_CASE("a worker that was never started is asked for again after ten minutes, then ever later",
          "[scheduler][autoscaler]") {
  MissingWorkers missing;
  missing.begin();
  CHECK(seconds_until_again(missing) == 600);
  CHECK(missing.seconds() == 600);
  CHECK(seconds_until_again(missing) == 600);
}

TEST_CASE("a worker that was here is asked for again soon, then ever later",
          "[scheduler][autoscaler]") {
  MissingWorkers missing;
  missing.begin();
  CHECK_FALSE(missing.again(4, 4, 1));
  CHECK(seconds_until_again(missing) == 10);
  CHECK(seconds_until_again(missing) == 20);
  CHECK_FALSE(missing.again(4, 4, 1));
  CHECK(missing.seconds() == 0);
  CHECK(seconds_until_again(missing) == 10);
}

}  // namespace
}  // namespace forebay::scheduler
