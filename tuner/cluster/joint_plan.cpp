#include "tuner/cluster/joint_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "tuner/model/expected_rate.h"

namespace forebay::tuner {
namespace {

constexpr double kPrecision = 3e-3;     // of a node's capability
constexpr double kWorthPacking = 1.05;  // times the plain rate, from which a way is worth its CPU
constexpr double kEnough = 0.995;       // of the rate that is wanted
constexpr double kSpare = 1.05;         // demand times this is planned for
constexpr double kStays = 1.05;         // times its capability: of equal nodes the fed one stays
constexpr double kLimited = 1.3;        // times a stage's own limit: no start is missed
constexpr std::array kHeadrooms{1.0, 1.03, 1.08, 1.15, 1.25, 1.4, 1.7};

/// The costs of a node that packs its splits in a way: the last stage packs.
std::vector<StageCost> packed(std::vector<StageCost> costs, const LinkWay& way) {
  StageCost& last = costs.back();
  const double seconds = last.seconds + way.seconds;
  if (seconds <= 0) return costs;
  last.cpu = (last.cpu * last.seconds + way.seconds) / seconds;
  last.seconds = seconds;
  return costs;
}

double capacity(const PlannedNode& node, const std::vector<StageCost>& costs) {
  return best_allocation(node.description, costs,
                         {.limits = node.limits, .precision = kPrecision})
      .splits_per_second;
}

bool fits(const PlannedNode& node, Allocation allocation) {
  allocation.prefetch = 1;
  return within(node.description, allocation,
                {node.description.max_actors, node.limits.memory_bytes});
}

Allocation carrying(const PlannedNode& node, const std::vector<StageCost>& costs, double rate) {
  Allocation carried{.prefetch = 1};
  for (std::size_t i = 0; i < costs.size(); ++i) {
    StageCost unlimited = costs[i];
    unlimited.max_rate = 0;
    const double limit = costs[i].max_rate * kLimited;
    const double wanted = limit > 0 ? std::min(rate, limit) : rate;
    const std::uint32_t most = std::min(node.description.stages[i].max_actors, node.reach[i]);
    const std::uint32_t enough = fewest_actors(unlimited, wanted, most);
    carried.actors.push_back(enough > 0 ? enough : fastest_actors(unlimited, most));
  }
  return carried;
}

/// The allocation of a node for a rate: the headroom that is worth its actors, given the noise.
NodeAdvice node_plan(const PlannedNode& node, double rate, std::size_t way) {
  const std::vector<StageCost> costs =
      way < node.ways.size() ? packed(node.costs, node.ways[way]) : node.costs;
  NodeAdvice best{.allocation = one_each(node.description), .way = way};
  double best_value = -1;
  for (const double headroom : kHeadrooms) {
    Allocation tried = carrying(node, costs, rate * headroom);
    if (!fits(node, tried)) {
      tried = fitted(node.description, tried,
                     {node.description.max_actors, node.limits.memory_bytes});
    }
    const double expected =
        expected_rate(costs, node.noise, tried.actors,
                      {node.limits.cpus, rate, node.loss_scale});
    const double value =
        expected * (1 - price(RewardMode::kUsable, node.description, node.limits, tried));
    if (value <= best_value) continue;
    best_value = value;
    best.allocation = std::move(tried);
    best.splits_per_second = expected;
  }
  best.allocation.prefetch =
      node.trainer && node.description.prefetch_item_bytes > 0
          ? prefetch_beside(node.description, best.allocation,
                            std::clamp(node.prefetch, 1U, node.description.max_prefetch),
                            {.bytes = node.limits.memory_bytes})
          : std::max(1U, node.description.default_prefetch);
  return best;
}

/// The workers, the one that can make most first, and what each node can make.
struct Ranking {
  explicit Ranking(const std::vector<PlannedNode>& nodes) {
    for (const PlannedNode& node : nodes) can.push_back(capability_of(node));
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (!nodes[k].trainer) workers.push_back(k);
    }
    const auto worth = [&](std::size_t k) {
      return can[k].splits_per_second * (nodes[k].fed ? kStays : 1);
    };
    std::ranges::stable_sort(workers, [&](auto a, auto b) { return worth(a) > worth(b); });
  }
  std::vector<NodeCapability> can;
  std::vector<std::size_t> workers;
};

}  // namespace

NodeCapability capability_of(const PlannedNode& node) {
  NodeCapability best;
  best.splits_per_second = capacity(node, node.costs);
  if (node.trainer || node.link_rate <= 0) return best;
  best.splits_per_second = std::min(best.splits_per_second, node.link_rate);
  for (std::size_t way = 1; way < node.ways.size(); ++way) {
    const double made = capacity(node, packed(node.costs, node.ways[way]));
    const double rate = std::min(made, node.link_rate * node.ways[way].ratio);
    if (rate > best.splits_per_second * kWorthPacking) best = {rate, way};
  }
  return best;
}

JointPlan plan_cluster(const std::vector<PlannedNode>& nodes, const JointNeeds& needs) {
  const Ranking ranking(nodes);
  double own = 0;
  double all = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const double rate = ranking.can[k].splits_per_second * needs.reached;
    all += rate;
    if (nodes[k].trainer) own += rate;
  }
  JointPlan plan;
  plan.nodes.resize(nodes.size());
  const double demand = needs.demand > 0 ? needs.demand * kSpare : all;
  plan.lacks = std::max(0.0, demand - all);
  plan.wanted = std::min(demand, all);
  if (needs.shared > 0) plan.wanted = std::min(plan.wanted, needs.shared);
  double sum = own;
  while (plan.fewest < ranking.workers.size() && sum < plan.wanted * kEnough) {
    sum += ranking.can[ranking.workers[plan.fewest++]].splits_per_second * needs.reached;
  }
  plan.fed = std::min<std::uint32_t>(needs.workers.value_or(plan.fewest),
                                     static_cast<std::uint32_t>(ranking.workers.size()));
  std::vector<bool> fed(nodes.size(), false);
  double able = own;
  for (std::uint32_t i = 0; i < plan.fed; ++i) {
    fed[ranking.workers[i]] = true;
    able += ranking.can[ranking.workers[i]].splits_per_second * needs.reached;
  }
  const double share = able > 0 ? std::min(1.0, plan.wanted / able) : 1;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto [can, way] = ranking.can[k];
    if (!nodes[k].trainer && !fed[k]) {
      plan.nodes[k] = {.allocation = one_each(nodes[k].description), .fed = false, .way = way};
      continue;
    }
    plan.nodes[k] = node_plan(nodes[k], std::max(can * share, 1e-9), way);
    plan.splits_per_second += plan.nodes[k].splits_per_second;
  }
  return plan;
}

}  // namespace forebay::tuner
