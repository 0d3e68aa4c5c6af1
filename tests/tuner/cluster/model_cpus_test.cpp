#include "tuner/cluster/model_cpus.h"

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

/// A node of 8 CPUs, of which `cpus` are its stages': 20 splits/s each.
PlannedNode node_with(double cpus, bool trainer) {
  return {.description = {.stages = {{.name = "decode", .max_actors = 64}}},
          .costs = {{.seconds = 0.05, .cpu = 1}},
          .limits = {.cpus = cpus, .memory_bytes = std::uint64_t{1} << 30},
          .trainer = trainer};
}

ClusterReport report_of(std::uint32_t threads) {
  return {.trainer = {.threads = threads, .most_threads = 8},
          .nodes = {{.name = "a", .limits = {.cpus = 8}},
                    {.name = "own", .trainer = true, .limits = {.cpus = 8}}}};
}

TEST_CASE("the stages keep a fifth of a node's CPUs", "[tuner][model_cpus]") {
  PlannedNode own = node_with(4, true);
  own.shown_rate = 80;
  CHECK(take_cpus(own, 1, {.cpus = 8}) == Approx(0.75));
  CHECK(own.limits.cpus == Approx(3));
  CHECK(own.shown_rate == Approx(60));
  CHECK(take_cpus(own, 9, {.cpus = 8}) == Approx(1.6 / 3));
  CHECK(own.limits.cpus == Approx(1.6));
  CHECK(own.shown_rate == Approx(32));
}

TEST_CASE("what nodes make beside a model leaves it the CPUs that it needs when it is fed",
          "[tuner][model_cpus]") {
  const std::vector<PlannedNode> nodes = {node_with(8, false), node_with(6, true)};
  // 8 and 6 CPUs.
  CHECK(able_beside_model(report_of(4), nodes, 0) == Approx(280).epsilon(0.01));
  // Four threads that wait for half of their time would take two CPUs more.
  CHECK(able_beside_model(report_of(4), nodes, 0.5) == Approx(240).epsilon(0.01));
}

}  // namespace
}  // namespace forebay::tuner
