#include "tuner/world/best_known.h"

#include "tests/tuner/sim/models.h"
#include "tuner/world/world_layout.h"

#include "tests/support/catch.h"

namespace forebay::tuner {

TEST_CASE("what is no world has the exact oracle", "[tuner][world]") {
  const PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.3)});
  const BestKnown best = find_best(model);
  CHECK(best.exact);
  CHECK(best.splits_per_second == oracle_of(model).splits_per_second);
}

TEST_CASE("a search finds what the shared file server allows, with few actors", "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1), stage("udf", 0.1)});
  model.stages[0].cpu = 0.1;
  model.stages[0].uses = {{"nfs", 3}};
  model.stages[1].cpu = 0.1;
  model.resources = {{.name = "nfs", .rate = 90}};
  model.nodes = {{.name = "a", .cpus = 8, .memory_bytes = 1'000'000'000, .trainer = true},
                 {.name = "b", .cpus = 8, .memory_bytes = 1'000'000'000, .seconds_factor = 2}};
  const BestKnown best = find_best(model);
  CHECK_FALSE(best.exact);
  CHECK(best.splits_per_second == Approx(30).epsilon(0.01));
  CHECK(fits(model, best.allocation));
  CHECK(best.allocation.total_actors() < 20);
  CHECK(find_best(model).allocation == best.allocation);
}

TEST_CASE("a search that is stopped gives what it has", "[tuner][world]") {
  PipelineModel model = line_of({stage("load", 0.1)});
  model.stages[0].ordered = true;
  const BestKnown best = find_best(model, {.splits = 100, .stopped = [] { return true; }});
  CHECK(best.allocation.actors == std::vector<std::uint32_t>{1});
  CHECK(best.cut_short);
  CHECK_FALSE(find_best(model, {.splits = 100}).cut_short);
}

}  // namespace forebay::tuner
