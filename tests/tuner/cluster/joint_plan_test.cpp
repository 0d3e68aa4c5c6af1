#include "tuner/cluster/joint_plan.h"

#include <cstdint>
#include <vector>

#include "tests/support/catch.h"

namespace forebay::tuner {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

/// A node of two stages of 0.1 and 0.3 CPU seconds a split: `cpus` / 0.4 splits/s.
PlannedNode worker(double cpus) {
  PlannedNode node;
  for (const char* name : {"load", "decode"}) {
    node.description.stages.push_back({.name = name, .max_actors = 64, .bytes_per_actor = 1 << 20});
  }
  node.description.prefetch_item_bytes = 1 << 20;
  node.description.max_prefetch = 1000;
  node.costs = {{.seconds = 0.1}, {.seconds = 0.3}};
  node.noise = {0, 0};
  node.limits = {.cpus = cpus, .memory_bytes = kGiB};
  return node;
}

PlannedNode trainer(double cpus) {
  PlannedNode node = worker(cpus);
  node.trainer = true;
  return node;
}

JointPlan planned(const std::vector<PlannedNode>& nodes, const JointNeeds& needs) {
  const ClusterCapability can = capability_of(nodes, needs);
  return plan_cluster(nodes, can, {.workers = can.fewest(0.995)});
}

TEST_CASE("a node's capability is the least of its CPUs and its link", "[tuner][joint_plan]") {
  PlannedNode node = worker(8);
  CHECK(capability_of(node).splits_per_second == Approx(20).epsilon(0.01));  // 8 / 0.4
  node.link_rate = 5;
  CHECK(capability_of(node).splits_per_second == 5);
  node.trainer = true;  // The trainer's own node is behind no link.
  CHECK(capability_of(node).splits_per_second == Approx(20).epsilon(0.01));
}

TEST_CASE("a link that is the limit packs where that brings more", "[tuner][joint_plan]") {
  PlannedNode node = worker(8);
  node.link_rate = 5;
  // Twice as many splits cross; packing costs 0.1 s, so 8 CPUs make 8 / 0.5 = 16/s.
  node.ways = {{}, {.ratio = 2, .seconds = 0.1}};
  CHECK(capability_of(node).way == 1);
  CHECK(capability_of(node).splits_per_second == Approx(10));
  node.ways[1] = {.ratio = 2, .seconds = 1.4};  // 8 / 1.8 = 4.4/s: less than the link carries.
  CHECK(capability_of(node).way == 0);
}

TEST_CASE("the fewest workers that reach the demand are fed, the largest first",
          "[tuner][joint_plan]") {
  // 5 + 10 + 20 + 10 splits/s; the demand of 22 is planned for with 5 % to spare: 23.1 <= 5 + 20.
  const std::vector<PlannedNode> nodes = {trainer(2), worker(4), worker(8), worker(4)};
  const JointPlan plan = planned(nodes, {.demand = 22});
  CHECK(plan.fed == 1);
  CHECK(plan.nodes[0].fed);
  CHECK_FALSE(plan.nodes[1].fed);
  CHECK(plan.nodes[2].fed);
  CHECK_FALSE(plan.nodes[3].fed);
  CHECK(plan.splits_per_second == Approx(23.1).epsilon(0.03));
  CHECK(plan.nodes[1].allocation.total_actors() == 2);  // One a stage: the least that is legal.
  // 23.1 · 20 / 25 = 18.5/s: 2 actors load and 6 decode (18.5 · 0.1 and 18.5 · 0.3).
  CHECK(plan.nodes[2].allocation.actors[0] >= 2);
  CHECK(plan.nodes[2].allocation.actors[1] >= 6);
}

TEST_CASE("a shared limit feeds no more workers than it can carry", "[tuner][joint_plan]") {
  const std::vector<PlannedNode> nodes = {trainer(2), worker(8), worker(8), worker(8)};
  CHECK(planned(nodes, {.demand = 100}).fed == 3);
  const ClusterCapability can = capability_of(nodes, {.demand = 100, .shared = 24});
  CHECK(can.wanted == 24);
  CHECK(can.fewest(0.995) == 1);                 // 5 + 20 = 25
  CHECK(can.lacks == Approx(40).epsilon(0.02));  // 105 − 65
}

TEST_CASE("the trainer's node gets room for splits that are early, within its memory",
          "[tuner][joint_plan]") {
  PlannedNode slow = worker(8);
  slow.link_rate = 1;  // Its splits wait for long, and those of others for them.
  const std::vector<PlannedNode> nodes = {trainer(8), slow};
  const JointPlan plan = planned(nodes, {});
  CHECK(plan.longest_seconds > 10);
  CHECK(plan.nodes[0].allocation.prefetch > 100);
  std::vector<PlannedNode> tight = nodes;
  tight[0].limits.memory_bytes = std::uint64_t{64} << 20;
  const Allocation held = planned(tight, {}).nodes[0].allocation;
  CHECK(worst_case_bytes(tight[0].description, held) <= tight[0].limits.memory_bytes);
}

TEST_CASE("noise in the costs moves no actors", "[tuner][joint_plan]") {
  std::vector<PlannedNode> nodes = {trainer(8)};
  nodes[0].costs[1].seconds = 0.3809;  // 10.5 splits/s need 3.9995 actors.
  const Allocation first = planned(nodes, {.demand = 10}).nodes[0].allocation;
  CHECK(first.actors[1] == 4);
  nodes[0].current = first;
  nodes[0].costs[1].seconds *= 1.001;
  CHECK(planned(nodes, {.demand = 10}).nodes[0].allocation == first);
}

TEST_CASE("a node whose memory is not known gets an actor a stage", "[tuner][joint_plan]") {
  std::vector<PlannedNode> nodes = {trainer(8)};
  nodes[0].limits.memory_bytes = 0;
  nodes[0].description.stages[0].bytes_per_actor = 1 << 20;
  CHECK(planned(nodes, {.demand = 10}).nodes[0].allocation.actors ==
        std::vector<std::uint32_t>{1, 1});
}

}  // namespace
}  // namespace forebay::tuner
