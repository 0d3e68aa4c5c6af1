#include <limits>

#include "tuner/model/expected_rate.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription plausible_stages() {
  PipelineDescription description;
  description.stages = {{"load", 64, 1}, {"decode", 64, 1}};
  return description;
}

TEST_CASE("an observation without stages gets as many as the pipeline has", "[tuner][model]") {
  CHECK(plausible(plausible_stages(), Observation{}).stages.size() == 2);
}

TEST_CASE("numbers that are not finite, or negative, become the least valid value",
          "[tuner][model]") {
  Observation seen;
  seen.seconds = -1;
  seen.limits.cpus = std::numeric_limits<double>::quiet_NaN();
  seen.stages.resize(2);
  seen.stages[0].working_seconds = std::numeric_limits<double>::infinity();
  const Observation mended = plausible(plausible_stages(), seen);
  CHECK(mended.seconds == 0);
  CHECK(mended.limits.cpus == 1);
  CHECK(mended.limits.memory_bytes == 1);
  CHECK(mended.stages[0].working_seconds == 0);
}

TEST_CASE("a part is no larger than its whole, and splits that took no time do not count",
          "[tuner][model]") {
  Observation seen;
  seen.stages.resize(2);
  seen.stages[0].done = 4;
  seen.stages[0].done_seconds = 2;
  seen.stages[0].done_cpu_seconds = 5;
  seen.stages[0].done_ready_seconds = 1;
  seen.stages[1].done = 4;
  seen.stages[1].working_seconds = 2;
  const Observation mended = plausible(plausible_stages(), seen);
  CHECK(mended.stages[0].done_cpu_seconds == 1);
  CHECK(mended.stages[0].done == 4);
  CHECK(mended.stages[1].done == 0);
  CHECK(mended.stages[1].working_seconds == 0);  // or they would look like one long split
}

TEST_CASE("the working time of a stage without a finished split is kept", "[tuner][model]") {
  Observation seen;
  seen.stages.resize(2);
  seen.stages[0].working_seconds = 2;
  CHECK(plausible(plausible_stages(), seen).stages[0].working_seconds == 2);
}

}  // namespace
}  // namespace forebay::tuner
