#include "tuner/model/planner.h"

#include "tests/tuner/model/measured_pipeline.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

using Catch::Detail::Approx;

TEST_CASE("a plan reaches the rate that the CPUs allow", "[tuner][model]") {
  const Planned plan =
      Planner(planned_stages()).plan(measured(0.05, 1000), {12, 10'000}, {{1, 1}, 8});
  CHECK(plan.expected_splits_per_second == Approx(40).epsilon(0.02));  // 12 / 0.3 s
  CHECK(plan.allocation.actors[0] >= 4);
  CHECK(plan.allocation.actors[1] >= 8);
  CHECK(plan.allocation.prefetch == 8);
}

TEST_CASE("a plan for a slow trainer has few actors", "[tuner][model]") {
  const Planned plan =
      Planner(planned_stages()).plan(measured(0.05, 18), {12, 10'000}, {{1, 1}, 8});
  CHECK(plan.allocation.actors == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("actors without benefit are removed, however few they are", "[tuner][model]") {
  const Limits large{100, 10'000};
  const Planned plan = Planner(planned_stages()).plan(measured(0.05, 18), large, {{2, 6}, 8});
  CHECK(plan.allocation.actors == std::vector<std::uint32_t>{2, 4});
}

TEST_CASE("more noise gets more headroom", "[tuner][model]") {
  const Planner planner(planned_stages());
  const Planned quiet = planner.plan(measured(0.02, 1000), {12, 10'000}, {{1, 1}, 8});
  const Planned noisy = planner.plan(measured(0.6, 1000), {12, 10'000}, {{1, 1}, 8});
  CHECK(noisy.allocation.total_actors() > quiet.allocation.total_actors());
}

TEST_CASE("a plan stays within memory, prefetch giving way to actors", "[tuner][model]") {
  const Planned plan = Planner(planned_stages()).plan(measured(0.05, 1000), {12, 190}, {{1, 1}, 8});
  CHECK(worst_case_bytes(planned_stages(), plan.allocation) <= 190);
  CHECK(plan.allocation.total_actors() == 8);  // 100 fixed + 8 actors + 5: a ninth does not fit
  CHECK(plan.allocation.prefetch == 2);
}

PipelineEstimate measured_alone() {
  return measured_once(working(1, 0.1, 0.05), working(1, 0.1, 0.05));
}

TEST_CASE("a stage that has yet to show what many actors do to it gets no more", "[tuner][model]") {
  const Planner planner(planned_stages());
  const PipelineEstimate known = measured_alone();
  const Limits limits{200, 10'000};
  CHECK(planner.plan(known, limits, {{1, 1}, 8}).allocation.actors[1] > 20);
  CHECK(planner.plan(known, limits, {{1, 20}, 8}).allocation.actors[1] <= 20);
}

TEST_CASE("long splits get many actors in steps, because a mistake would last", "[tuner][model]") {
  const Planner planner(planned_stages());
  const Limits limits{200, 10'000};
  const PipelineEstimate long_alone = measured_once(working(1, 4, 0.05), working(1, 0.01, 0.05));
  const std::uint32_t first = planner.plan(long_alone, limits, {{1, 1}, 8}).allocation.actors[0];
  const std::uint32_t brief =
      planner.plan(measured_alone(), limits, {{1, 1}, 8}).allocation.actors[0];
  CHECK(first >= 4);
  CHECK(first < brief);
}

TEST_CASE("a quarter more actors than were measured is no bad guess", "[tuner][model]") {
  const PipelineEstimate known = measured_once(working(36, 8, 0.05), working(1, 0.01, 0.05));
  const Planned plan = Planner(planned_stages()).plan(known, {200, 10'000}, {{36, 1}, 8});
  CHECK(plan.allocation.actors[0] == 45);
}

TEST_CASE("the current plan stays when another brings next to nothing", "[tuner][model]") {
  const Planner planner(planned_stages());
  const PipelineEstimate known = measured(0.05, 1000);
  const Allocation current = planner.plan(known, {12, 10'000}, {{1, 1}, 8}).allocation;
  CHECK(planner.plan(known, {12, 10'000}, current).allocation == current);
}

}  // namespace
}  // namespace forebay::tuner
