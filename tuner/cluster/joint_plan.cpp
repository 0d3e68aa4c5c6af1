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
constexpr double kLeastRate = 1e-9;     // splits/s that any node is planned for
constexpr double kSpare = 1.05;         // demand times this is planned for
constexpr double kStays = 1.05;         // times its capability: of equal nodes the fed one stays
constexpr double kStanding = 0.002;     // of the rate, that a change must gain
constexpr double kQueued = 6;           // splits that may wait behind a stage
constexpr double kEarly = 1.2;          // times the splits that are made while the slowest one is
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
  return best_allocation(node.description, costs, {.limits = node.limits, .precision = kPrecision})
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
    const std::uint32_t most = node.description.stages[i].max_actors;
    const ActorsForRate stage(unlimited, most);
    const std::uint32_t enough = stage.fewest(wanted);
    carried.actors.push_back(enough > 0 ? enough : stage.fastest());
  }
  return carried;
}

/// The allocation of a node for a rate: the headroom that is worth its actors, given the noise.
/// The current allocation wins a tie, so that noise in the costs moves no actors.
class NodePlanner {
 public:
  NodePlanner(const PlannedNode& node, double rate, std::size_t way)
      : node_(node),
        costs_(way < node.ways.size() ? packed(node.costs, node.ways[way]) : node.costs),
        rate_(rate) {
    best_.allocation = one_each(node.description);
    best_.way = way;
  }

  NodeAdvice plan() {
    if (node_.current.actors.size() == costs_.size() && fits(node_, node_.current)) {
      consider(node_.current);
      best_value_ *= 1 + kStanding;
    }
    for (const double headroom : kHeadrooms) {
      Allocation tried = carrying(node_, costs_, rate_ * headroom);
      if (!fits(node_, tried)) {
        tried = fitted(node_.description, tried,
                       {node_.description.max_actors, node_.limits.memory_bytes});
      }
      consider(std::move(tried));
    }
    best_.allocation.prefetch = std::max(1U, node_.description.default_prefetch);
    return std::move(best_);
  }

 private:
  void consider(Allocation tried) {
    const double expected = expected_rate(costs_, node_.noise, tried.actors,
                                          {node_.limits.cpus, rate_, node_.loss_scale});
    const double value =
        expected * (1 - price(RewardMode::kUsable, node_.description, node_.limits, tried));
    if (value <= best_value_) return;
    best_value_ = value;
    best_.allocation = std::move(tried);
    best_.splits_per_second = expected;
  }

  const PlannedNode& node_;
  const std::vector<StageCost> costs_;
  const double rate_;
  NodeAdvice best_;
  double best_value_ = -1;
};

/// Gives the trainer's node room for so many early splits, as far as its memory allows; what stands
/// is kept where it is enough, and not far more.
void hold(const PlannedNode& node, double early, Allocation& allocation) {
  if (node.description.prefetch_item_bytes == 0) return;
  const std::uint32_t most = node.description.max_prefetch;
  const double least = std::max<double>(early, node.description.default_prefetch);
  std::uint32_t wanted = least < most ? static_cast<std::uint32_t>(std::ceil(least)) : most;
  const std::uint32_t now = node.current.prefetch;
  if (now >= wanted && now <= 2 * wanted) wanted = now;
  allocation.prefetch = prefetch_beside(node.description, allocation, std::max(1U, wanted),
                                        {.bytes = node.limits.memory_bytes});
}

}  // namespace

NodeCapability capability_of(const PlannedNode& node) {
  NodeCapability best;
  best.splits_per_second = std::max(capacity(node, node.costs), node.shown_rate);
  if (node.trainer || node.link_rate <= 0) return best;
  best.splits_per_second = std::min(best.splits_per_second, node.link_rate);
  for (std::size_t way = 1; way < node.ways.size(); ++way) {
    const double made = capacity(node, packed(node.costs, node.ways[way]));
    const double rate = std::min(made, node.link_rate * node.ways[way].ratio);
    if (rate > best.splits_per_second * kWorthPacking) best = {rate, way};
  }
  return best;
}

std::uint32_t ClusterCapability::fewest(double share) const {
  double sum = own;
  std::uint32_t count = 0;
  while (count < workers.size() && sum < wanted * share) {
    sum += nodes[workers[count++]].splits_per_second;
  }
  return count;
}

ClusterCapability capability_of(const std::vector<PlannedNode>& nodes, const JointNeeds& needs) {
  ClusterCapability can;
  double all = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    can.nodes.push_back(capability_of(nodes[k]));
    double& rate = can.nodes.back().splits_per_second;
    rate *= needs.reached;
    all += rate;
    if (nodes[k].trainer) {
      can.own += rate;
    } else {
      can.workers.push_back(k);
    }
  }
  const auto worth = [&](std::size_t k) {
    return can.nodes[k].splits_per_second * (nodes[k].fed ? kStays : 1);
  };
  std::ranges::stable_sort(can.workers, [&](auto a, auto b) { return worth(a) > worth(b); });
  const double demand = needs.demand > 0 ? needs.demand * kSpare : all;
  can.lacks = std::max(0.0, demand - all);
  can.wanted = std::min(demand, all);
  if (needs.shared > 0) can.wanted = std::min(can.wanted, needs.shared);
  return can;
}

JointPlan plan_cluster(const std::vector<PlannedNode>& nodes, const ClusterCapability& can,
                       const Feeding& feeding) {
  JointPlan plan{.fed = std::min(feeding.workers, static_cast<std::uint32_t>(can.workers.size()))};
  plan.nodes.resize(nodes.size());
  std::vector<bool> fed(nodes.size(), false);
  double able = can.own;
  for (std::uint32_t i = 0; i < plan.fed; ++i) {
    fed[can.workers[i]] = true;
    able += can.nodes[can.workers[i]].splits_per_second;
  }
  const double share = able > 0 ? std::min(1.0, can.wanted / able) : 1;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const auto [rate, way] = can.nodes[k];
    if (!nodes[k].trainer && !fed[k]) {
      plan.nodes[k] = {.allocation = one_each(nodes[k].description), .fed = false, .way = way};
      continue;
    }
    plan.nodes[k] = NodePlanner(nodes[k], std::max(rate * share, kLeastRate), way).plan();
    const NodeAdvice& made = plan.nodes[k];
    plan.splits_per_second += made.splits_per_second;
    const double held = made.allocation.total_actors() +
                        kQueued * static_cast<double>(made.allocation.actors.size() + 1);
    plan.longest_seconds =
        std::max(plan.longest_seconds, held / std::max(made.splits_per_second, kLeastRate));
  }
  // With order kept, a split that is early waits for the slowest node's.
  double early = kEarly * plan.longest_seconds * plan.splits_per_second;
  if (nodes.size() == 1) early = 0;
  early = std::max(early, feeding.prefetch);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k].trainer) hold(nodes[k], early, plan.nodes[k].allocation);
  }
  return plan;
}

}  // namespace forebay::tuner
