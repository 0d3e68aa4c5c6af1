#include "tuner/world/world_layout.h"

#include "tests/tuner/sim/models.h"
#include "tuner/world/rate_bound.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// Two stages of 1 MB an actor and a split, queues of 4, on two nodes; 10 MB as a base.
PipelineModel linked_nodes() {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.2)});
  model.nodes = {{.name = "a", .cpus = 8, .memory_bytes = 100'000'000, .trainer = true},
                 {.name = "b", .cpus = 4, .memory_bytes = 20'000'000, .link_rate = 3e6}};
  return model;
}

}  // namespace

TEST_CASE("what is on a link counts on its node, what is prefetched on the trainer's",
          "[tuner][world]") {
  const PipelineModel model = linked_nodes();
  CHECK(node_description(model, 0).fixed_bytes == 14'000'000);
  CHECK(node_description(model, 0).prefetch_item_bytes == 1'000'000);
  CHECK(node_description(model, 1).fixed_bytes == 18'000'000);
  CHECK(node_description(model, 1).prefetch_item_bytes == 0);
  CHECK(line_names(model) == std::vector<std::string>{"a.load", "a.udf", "b.load", "b.udf"});
}

TEST_CASE("memory for a link is kept from the start where an event brings the link",
          "[tuner][world]") {
  PipelineModel model = linked_nodes();
  model.nodes[1].link_rate = 0;
  CHECK(node_description(model, 1).fixed_bytes == 14'000'000);
  model.events = {{.at_seconds = 40, .node = 0, .link_rate = 3e6}};
  CHECK(node_description(model, 1).fixed_bytes == 14'000'000);
  model.events[0].node = 1;
  CHECK(node_description(model, 1).fixed_bytes == 18'000'000);
}

TEST_CASE("an allocation is legal if it fits into every node", "[tuner][world]") {
  const PipelineModel model = linked_nodes();
  CHECK(fits(model, {.actors = {9, 9, 1, 1}, .prefetch = 60}));
  CHECK_FALSE(fits(model, {.actors = {9, 9, 1, 1}, .prefetch = 70}));
  CHECK_FALSE(fits(model, {.actors = {1, 1, 2, 1}, .prefetch = 1}));
}

TEST_CASE("a bound adds what the nodes make, each within its CPUs, stages and link",
          "[tuner][world]") {
  PipelineModel model = linked_nodes();
  // a: 8 CPUs / 0.3 s = 26.7, with 4 and 4 actors 20; b: its link carries 3 of 13.3.
  CHECK(rate_bound(model) == Approx(8 / 0.3 + 3));
  CHECK(rate_bound(model, {.actors = {4, 4, 2, 1}}) == Approx(20 + 3));
  model.resources = {{.name = "nfs", .rate = 30}};
  model.stages[0].uses = {{"nfs", 2}};
  CHECK(rate_bound(model) == Approx(15));
  model.nodes[0].present = false;
  CHECK(rate_bound(model) == Approx(3));
}

TEST_CASE("pauses start every so often, the first after that time", "[tuner][world]") {
  PipelineModel model = linked_nodes();
  CHECK(paused_between(model, 0, 100) == 0);
  model.pause = PauseModel{.every = 10, .seconds = 2};
  CHECK(paused_between(model, 0, 10) == 0);
  CHECK(paused_between(model, 0, 11) == Approx(1));
  CHECK(paused_between(model, 11, 21.5) == Approx(1 + 1.5));
  CHECK(paused_between(model, 0, 600) == Approx(59 * 2));
}

TEST_CASE("a world of one named node is one without names, at that node's speed",
          "[tuner][world]") {
  PipelineModel model = linked_nodes();
  CHECK_FALSE(as_one_node(model).has_value());
  model.nodes.resize(1);
  model.nodes[0].seconds_factor = 2;
  model.events = {{.at_seconds = 1, .cpus = 3, .node = 0}};
  const auto one = as_one_node(model);
  REQUIRE(one);
  CHECK(one->memory_bytes == 100'000'000);
  CHECK(one->stages[1].seconds == Approx(0.4));
  CHECK(model_at(*one, 1).cpus == 3);
  model.events[0].seconds_factor = 3;
  CHECK_FALSE(as_one_node(model).has_value());
}

}  // namespace forebay::tuner
