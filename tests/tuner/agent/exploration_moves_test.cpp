#include "tuner/agent/exploration_moves.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

PipelineDescription load_and_decode() {
  PipelineDescription description;
  description.stages = {{"load", 10, 10}, {"decode", 100, 10}};
  description.max_prefetch = 64;
  description.prefetch_item_bytes = 10;
  return description;
}

// Both stages with actors that work a share of two seconds.
Observation working(double load, std::uint32_t loaders, double decode, std::uint32_t decoders) {
  Observation seen{.seconds = 2, .limits = {.cpus = 8, .memory_bytes = 1000}};
  const auto add = [&](std::uint32_t actors, double share) {
    StageObservation stage;
    stage.actors = actors;
    stage.actor_seconds = 2.0 * actors;
    stage.working_seconds = share * stage.actor_seconds;
    seen.stages.push_back(stage);
  };
  add(loaders, load);
  add(decoders, decode);
  seen.prefetch = 8;
  return seen;
}

TEST_CASE("prefetch grows twice where a stage is busy, four times where none is",
          "[tuner][agent]") {
  CHECK(wider(load_and_decode(), working(0.2, 2, 0.7, 4), false) == Allocation{{2, 4}, 16});
  CHECK(wider(load_and_decode(), working(0.2, 2, 0.5, 4), false) == Allocation{{2, 4}, 32});
}

TEST_CASE("in a trade actors that wait leave their memory to prefetch", "[tuner][agent]") {
  Observation seen = working(0.1, 10, 0.1, 40);  // 50 · 10 bytes
  seen.limits.memory_bytes = 600;
  CHECK(wider(load_and_decode(), seen, false) == Allocation{{10, 40}, 10});
  // 4 · 1.2 · 0.1 of them would be used
  CHECK(wider(load_and_decode(), seen, true) == Allocation{{5, 20}, 32});
}

TEST_CASE("busy stages grow within their bounds, and prefetch gives them its memory",
          "[tuner][agent]") {
  Observation seen = working(0.95, 9, 0.5, 4);
  CHECK(grown(load_and_decode(), seen, 0.9, 1.3) == Allocation{{10, 4}, 8});
  CHECK(grown(load_and_decode(), seen, 0.4, 1.3) == Allocation{{10, 6}, 8});
  seen.limits.memory_bytes = 210;
  CHECK(grown(load_and_decode(), seen, 0.4, 1.3) == Allocation{{10, 6}, 5});
}

TEST_CASE("halfway is the geometric mean", "[tuner][agent]") {
  CHECK(halfway(load_and_decode(), {{2, 4}, 8}, {{8, 9}, 4}, 16,
                {.cpus = 8, .memory_bytes = 1000}) == Allocation{{4, 6}, 16});
}

TEST_CASE("a stage keeps the actors that it uses, and a fifth more", "[tuner][agent]") {
  CHECK(without_idle({{9, 10}, 4}, working(0, 9, 0.5, 10), 1) == Allocation{{1, 6}, 4});
}

TEST_CASE("allocations within a few actors of many have the same rate", "[tuner][agent]") {
  CHECK(alike({{100, 2}, 4}, {{93, 2}, 4}));
  CHECK_FALSE(alike({{100, 2}, 4}, {{91, 2}, 4}));
  CHECK_FALSE(alike({{100, 2}, 4}, {{100, 3}, 4}));
  CHECK_FALSE(alike({{100, 2}, 4}, {{100, 2}, 5}));
}

}  // namespace
}  // namespace forebay::tuner
