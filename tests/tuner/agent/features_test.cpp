#include "tuner/agent/features.h"

#include <cmath>

#include "core/base/random.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription stages(std::size_t count) {
  PipelineDescription description;
  for (std::size_t i = 0; i < count; ++i) {
    description.stages.push_back({.name = "s", .max_actors = 64, .bytes_per_actor = 1});
  }
  return description;
}

TEST_CASE("features are small numbers for any observation", "[tuner][agent]") {
  Random random(11);
  for (int trial = 0; trial < 500; ++trial) {
    const PipelineDescription description = stages(1 + random.below(9));
    Observation seen;
    seen.seconds = random.below(2) == 0 ? 0 : 2;
    seen.limits = {1 + random.uniform() * 128, 1 + random.next() % 1'000'000};
    for (std::size_t i = 0; i < description.stages.size(); ++i) {
      StageObservation stage;
      stage.actors = random.below(300);
      stage.done = random.below(3) == 0 ? 0 : random.below(100'000);
      stage.actor_seconds = random.uniform() * 1e6;
      stage.working_seconds = random.uniform() * 1e6;
      stage.done_seconds = random.uniform() * 1e6;
      stage.done_cpu_seconds = random.uniform() * 1e6;
      stage.done_seconds_squared = random.uniform() * 1e6;
      stage.done_actors = random.uniform() * 1e6;
      seen.stages.push_back(stage);
    }
    PipelineEstimate known(description);
    known.observe(seen);
    Planned base{.allocation = one_each(description)};
    for (const Features& row : features_of(description, seen, known, base)) {
      for (const float value : row) CHECK((std::isfinite(value) && std::abs(value) <= 2));
    }
  }
}

TEST_CASE("every stage of a pipeline has the same view of the whole", "[tuner][agent]") {
  const PipelineDescription description = stages(3);
  Observation seen;
  seen.seconds = 2;
  seen.limits = {8, 1000};
  seen.stages.resize(3);
  PipelineEstimate known(description);
  known.observe(seen);
  const auto rows =
      features_of(description, seen, known, Planned{.allocation = one_each(description)});
  for (std::size_t f = kStageFeatures; f < kFeatures; ++f) {
    CHECK(rows[0][f] == rows[1][f]);
    CHECK(rows[0][f] == rows[2][f]);
  }
}

}  // namespace
}  // namespace forebay::tuner
