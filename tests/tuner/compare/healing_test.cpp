// On pipelines whose work changes for good, no wrong belief lasts.

#include <cstdint>

#include "tests/tuner/stress_pipeline.h"
#include "tuner/compare/comparison.h"
#include "tuner/sim/simulator.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

ComparedRun run_of(const PipelineModel& model, const char* policy) {
  return run_one({.model = model, .policy = policy}, simulated_machines(), [] { return false; });
}

TEST_CASE("stress pipelines are legal, and the same for the same seed", "[tuner][compare]") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const PipelineModel model = stress_pipeline(seed);
    INFO(model.name);
    const PipelineDescription description = description_of(model);
    CHECK(worst_case_bytes(description, one_each(description)) <= model.memory_bytes);
    CHECK_FALSE(model.events.empty());
    CHECK(model.trainer_step_seconds == stress_pipeline(seed).trainer_step_seconds);
  }
}

// Each of these once lasted to the end of the run: contention that was not there, a change that
// noise hid, a limit that was the wave of long splits, splits that outlasted the time expected of
// others.
TEST_CASE("the tuner gets over every disturbance of these pipelines", "[tuner][compare]") {
  for (const std::uint64_t seed : {34U, 76U, 110U, 144U, 157U, 268U, 292U}) {
    const PipelineModel model = stress_pipeline(seed);
    const ComparedRun run = run_of(model, "intune");
    INFO(model.name);
    CHECK_FALSE(run.out_of_memory);
    for (const Recovery& recovery : run.figures.recoveries) {
      INFO("after " << recovery.at_seconds << " s");
      CHECK(recovery.decisions_to_95.has_value());
    }
  }
}

}  // namespace
}  // namespace forebay::tuner
