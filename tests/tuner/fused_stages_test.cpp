#include "tuner/fused_stages.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Three stages, of which the second and the third may join.
PipelineDescription three_stages() {
  return {.stages = {{"load", 8, 100}, {"decode", 6, 300, 0}, {"shuffle", 9, 200, 0}}};
}

Observation seen_of(const std::vector<std::uint32_t>& actors) {
  Observation seen{.prefetch = 5};
  for (const std::uint32_t each : actors) {
    seen.stages.push_back({.actors = each, .cpu_seconds = 1, .done = 4});
  }
  return seen;
}

TEST_CASE("a stage without actors is joined if it may be", "[tuner][fused_stages]") {
  CHECK(joins_of(three_stages(), {{2, 0, 3}, 1}) == Joins{false, true, false});
  CHECK(joins_of(three_stages(), {{0, 0, 0}, 1}) == Joins{false, true, true});
  PipelineDescription fixed = three_stages();
  fixed.stages[1].least_actors = 1;
  CHECK(joins_of(fixed, {{2, 0, 0}, 1}) == Joins{false, false, true});
  CHECK(joins_of(three_stages(), {{2}, 1}) == Joins{false, false, false});
}

TEST_CASE("a group has the tightest bound and the largest actor of its stages",
          "[tuner][fused_stages]") {
  const PipelineDescription groups = fused(three_stages(), {false, true, false});
  REQUIRE(groups.stages.size() == 2);
  CHECK(groups.stages[0].name == "load+decode");
  CHECK(groups.stages[0].max_actors == 6);
  CHECK(groups.stages[0].bytes_per_actor == 300);
  CHECK(groups.stages[1].name == "shuffle");
  CHECK(groups.stages[1].least_actors == 1);
  CHECK(names_of_groups(three_stages(), {false, false, true}) == "load, decode+shuffle");
}

TEST_CASE("a group is seen with the actors of its first stage and the sums of all",
          "[tuner][fused_stages]") {
  const Observation groups = fused(seen_of({4, 0, 2}), {false, true, false});
  REQUIRE(groups.stages.size() == 2);
  CHECK(groups.stages[0].actors == 4);
  CHECK(groups.stages[0].cpu_seconds == 2);
  CHECK(groups.stages[0].done == 4);
  CHECK(groups.stages[1].actors == 2);
  CHECK(groups.prefetch == 5);
}

TEST_CASE("an allocation of groups is one of stages, of which the joined ones have no actors",
          "[tuner][fused_stages]") {
  CHECK(apart({{4, 2}, 7}, {false, true, false}) == Allocation{{4, 0, 2}, 7});
  CHECK(groups_of(three_stages(), {{4, 0, 2}, 7}) ==
        std::vector<GroupActors>{{"load+decode", 4}, {"shuffle", 2}});
  CHECK(groups_of(three_stages(), {{0, 0, 2}, 7}) ==
        std::vector<GroupActors>{{"load+decode", 0}, {"shuffle", 2}});
}

TEST_CASE("a group is observed as one stage whose splits take the times of all",
          "[tuner][fused_stages]") {
  const StageObservation load{.actors = 2,
                              .actor_seconds = 20,
                              .working_seconds = 4,
                              .input_wait_seconds = 16,
                              .cpu_seconds = 1,
                              .done = 2,
                              .done_seconds = 4,
                              .done_seconds_squared = 10,
                              .done_cpu_seconds = 1,
                              .done_actors = 4};
  const StageObservation decode{.actors = 2,
                                .actor_seconds = 19,
                                .working_seconds = 8,
                                .input_wait_seconds = 10,
                                .output_wait_seconds = 1,
                                .cpu_seconds = 7,
                                .done = 2,
                                .done_seconds = 10,
                                .done_seconds_squared = 32,
                                .done_cpu_seconds = 7,
                                .done_ready_seconds = 2,
                                .done_actors = 4,
                                .queue_fill = 0.5,
                                .queued_bytes = 9};
  const StageObservation group = observation_of_group({load, decode});
  CHECK(group.actors == 2);
  CHECK(group.actor_seconds == 20);
  CHECK(group.working_seconds == 12);
  CHECK(group.output_wait_seconds == 1);
  CHECK(group.input_wait_seconds == 7);
  CHECK(group.cpu_seconds == 8);
  CHECK(group.done == 2);
  CHECK(group.done_seconds == 14);
  CHECK(group.done_cpu_seconds == 8);
  CHECK(group.done_ready_seconds == 2);
  CHECK(group.done_actors == 4);
  CHECK(group.queue_fill == 0.5);
  CHECK(group.queued_bytes == 9);
  // Means of 2 and 4 s, variances of 1 and 0 s²: 2 · (6² + 1).
  CHECK(group.done_seconds_squared == 74);
  CHECK(observation_of_group({load}).done_seconds_squared == 10);
}

TEST_CASE("the name of a group holds those of its stages", "[tuner][fused_stages]") {
  CHECK(group_name({"load", "decode"}) == "load+decode");
  CHECK(stages_in("load+decode") == std::vector<std::string>{"load", "decode"});
  CHECK(stages_in("load") == std::vector<std::string>{"load"});
}

}  // namespace
}  // namespace forebay::tuner
