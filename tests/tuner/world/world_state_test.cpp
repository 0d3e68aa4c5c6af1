#include "tuner/sim/world_state.h"

#include "tests/tuner/sim/models.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineModel with_events(std::vector<ModelEvent> events) {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.2)});
  model.events = std::move(events);
  return model;
}

}  // namespace

TEST_CASE("a ramp is a straight line from what stands to what the event says", "[tuner][world]") {
  const PipelineModel model =
      with_events({{.at_seconds = 10, .stage = 1, .seconds_factor = 3, .over_seconds = 4}});
  CHECK(model_at(model, 10).stages[1].seconds == Approx(0.2));
  CHECK(model_at(model, 11).stages[1].seconds == Approx(0.3));
  CHECK(model_at(model, 14).stages[1].seconds == Approx(0.6));
  CHECK(model_at(model, 99).stages[1].seconds == Approx(0.6));
}

TEST_CASE("a later event of the same key ends a ramp where it is", "[tuner][world]") {
  const PipelineModel model = with_events({{.at_seconds = 0, .cpus = 16, .over_seconds = 8},
                                           {.at_seconds = 4, .cpus = 2, .over_seconds = 10}});
  CHECK(model_at(model, 2).cpus == Approx(10));
  CHECK(model_at(model, 4).cpus == Approx(12));
  CHECK(model_at(model, 9).cpus == Approx(7));
  CHECK(model_at(model, 14).cpus == Approx(2));
}

TEST_CASE("from no limit to one there is no line", "[tuner][world]") {
  const PipelineModel model =
      with_events({{.at_seconds = 1, .stage = 0, .max_rate = 5, .over_seconds = 8}});
  CHECK(model_at(model, 1).stages[0].max_rate == 5);
}

TEST_CASE("an event of a node is its own, one without a node is of all", "[tuner][world]") {
  PipelineModel model = with_events(
      {{.at_seconds = 1, .cpus = 3}, {.at_seconds = 2, .cpus = 5, .node = 1, .present = false}});
  model.nodes = {{.name = "a", .cpus = 8, .memory_bytes = 1'000'000'000, .trainer = true},
                 {.name = "b", .cpus = 8, .memory_bytes = 1'000'000'000}};
  CHECK(model_at(model, 1).nodes[0].cpus == 3);
  CHECK(model_at(model, 1).nodes[1].cpus == 3);
  CHECK(model_at(model, 2).nodes[0].cpus == 3);
  CHECK(model_at(model, 2).nodes[1].cpus == 5);
  CHECK(model_at(model, 1).nodes[1].present);
  CHECK_FALSE(model_at(model, 2).nodes[1].present);
}

TEST_CASE("a resource is changed by its name, on every node that has one", "[tuner][world]") {
  PipelineModel model = with_events({{.at_seconds = 2, .resource = "disk", .rate = 7}});
  model.nodes = {{.name = "a", .trainer = true}, {.name = "b"}};
  model.resources = {{.name = "disk", .rate = 1, .node = 0},
                     {.name = "disk", .rate = 2, .node = 1},
                     {.name = "nfs", .rate = 3}};
  CHECK(model_at(model, 1).resources[1].rate == 2);
  CHECK(model_at(model, 2).resources[0].rate == 7);
  CHECK(model_at(model, 2).resources[1].rate == 7);
  CHECK(model_at(model, 2).resources[2].rate == 3);
}

TEST_CASE("while a ramp goes on, something changes every eighth of a second, and at its end",
          "[tuner][world]") {
  WorldState state(with_events({{.at_seconds = 1, .cpus = 16, .over_seconds = 0.2}}));
  state.move_to(0);
  CHECK(state.next_change() == 1);
  state.move_to(1);
  CHECK(state.next_change() == Approx(1.125));
  state.move_to(1.125);
  CHECK(state.next_change() == Approx(1.2));
  state.move_to(1.2);
  CHECK(state.now().nodes[0].cpus == 16);
  CHECK(state.next_change() > 1e300);
}

}  // namespace forebay::tuner
