#include "tuner/world/oracle_line.h"

#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A rate that is easy to foresee: the CPUs.
BestKnown cpus_of(const PipelineModel& steady) {
  return {.splits_per_second = steady.cpus, .exact = true};
}

}  // namespace

TEST_CASE("the yardstick of a ramp is a straight line between those of its ends",
          "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});  // 8 CPUs.
  model.events = {{.at_seconds = 10, .cpus = 16, .over_seconds = 20},
                  {.at_seconds = 40, .cpus = 4}};
  const auto line = oracle_line(model, 100, cpus_of);
  REQUIRE(line.size() == 4);
  CHECK(mean_rate(line, 0, 10) == Approx(8));
  CHECK(mean_rate(line, 10, 30) == Approx(12));
  CHECK(mean_rate(line, 15, 15) == Approx(10));
  CHECK(mean_rate(line, 30, 40) == Approx(16));
  CHECK(mean_rate(line, 20, 50) == Approx((10 * 14 + 10 * 16 + 10 * 4) / 30.0));
}

TEST_CASE("nothing after the end of a run is asked for", "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.events = {{.at_seconds = 10, .cpus = 16}, {.at_seconds = 90, .cpus = 4}};
  CHECK(oracle_line(model, 50, cpus_of).size() == 2);
}

}  // namespace forebay::tuner
