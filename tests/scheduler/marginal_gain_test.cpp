#include "scheduler/marginal_gain.h"

#include "tests/support/catch.h"

namespace forebay::scheduler {
namespace {

TEST_CASE("a gain is what new workers make less what the others lose", "[scheduler]") {
  const MarginalGain gain({{.id = 1, .rate = 60}, {.id = 2, .rate = 40}}, 100);
  CHECK(gain.workers() == 2);
  // The third makes 50, the first two lose 20: of 50 remain 30.
  const auto result =
      gain.measure({{.id = 1, .rate = 50}, {.id = 2, .rate = 30}, {.id = 3, .rate = 50}});
  CHECK(result.added == Approx(50.0 / 130));
  CHECK(result.useful == Approx(0.6));
}

TEST_CASE("workers that share a limit gain nothing, those of another speed all", "[scheduler]") {
  const MarginalGain gain({{.id = 1, .rate = 60}}, 60);
  CHECK(gain.measure({{.id = 1, .rate = 30}, {.id = 2, .rate = 30}}).useful == 0);
  CHECK(gain.measure({{.id = 1, .rate = 60}, {.id = 2, .rate = 10}}).useful == 1);
  CHECK(gain.measure({{.id = 1, .rate = 70}, {.id = 2, .rate = 10}}).useful == 1);
}

TEST_CASE("a worker that died is no loss, and without new ones there is nothing to judge",
          "[scheduler]") {
  const MarginalGain gain({{.id = 1, .rate = 60}, {.id = 2, .rate = 60}}, 120);
  CHECK(gain.measure({{.id = 1, .rate = 60}, {.id = 3, .rate = 60}}).useful == 1);
  CHECK(gain.measure({{.id = 1, .rate = 60}}).added == 0);
}

}  // namespace
}  // namespace forebay::scheduler
