#include "tuner/cluster/cluster_planner.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

constexpr double kWaits = 0.02;      // a share of time from which the trainer waits
constexpr double kLeastBusy = 0.02;  // of an interval
constexpr double kNew = 0.5;         // weight of an interval in the demand
constexpr double kReached = 0.97;    // of what the costs allow: noise takes the rest
constexpr double kMostOf = 0.5;      // a share of the fed nodes: a limit that so many meet is shared
constexpr double kAbove = 1.03;      // times a shared limit's rate is planned for

bool same_machine(const PipelineDescription& a, const PipelineDescription& b) {
  const auto same = [](const StageDescription& x, const StageDescription& y) {
    return x.name == y.name && x.max_actors == y.max_actors;
  };
  return std::equal(a.stages.begin(), a.stages.end(), b.stages.begin(), b.stages.end(), same);
}

std::string rounded(double value) {
  return std::to_string(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
}

}  // namespace

ClusterPlanner::Kept& ClusterPlanner::kept_of(const NodeReport& report) {
  auto found = nodes_.find(report.name);
  if (found != nodes_.end() && same_machine(found->second.description, report.description)) {
    return found->second;
  }
  return nodes_
      .insert_or_assign(report.name, Kept{.belief = NodeBelief(report.description),
                                          .description = report.description})
      .first->second;
}

void ClusterPlanner::observe(const ClusterReport& report) {
  const TrainerReport& trainer = report.trainer;
  waited_ = trainer.seconds > 0
                ? std::clamp(trainer.waited_seconds / trainer.seconds, 0.0, 1 - kLeastBusy)
                : 0;
  rate_ = 0;
  for (const NodeReport& node : report.nodes) {
    Kept& kept = kept_of(node);
    kept.belief.observe(node, waited_ > kWaits);
    rate_ += kept.belief.rate();
  }
  if (rate_ <= 0 || trainer.seconds <= 0) return;
  const double demand = rate_ / (1 - waited_);
  demand_ = demand_ > 0 ? demand_ + kNew * (demand - demand_) : demand;
}

std::vector<PlannedNode> ClusterPlanner::planned_nodes(const ClusterReport& report) {
  std::vector<PlannedNode> nodes;
  const PlannedNode* example = nullptr;
  nodes.reserve(report.nodes.size());
  for (const NodeReport& node : report.nodes) {
    const Kept& kept = nodes_.at(node.name);
    nodes.push_back(kept.belief.planned(node));
    nodes.back().fed = kept.fed;
    if (kept.belief.shown() && example == nullptr) example = &nodes.back();
  }
  for (std::size_t k = 0; k < nodes.size() && example != nullptr; ++k) {
    if (nodes_.at(report.nodes[k].name).belief.shown()) continue;
    nodes[k].costs = example->costs;
    nodes[k].noise = example->noise;
  }
  return nodes;
}

// A stage that is held back without CPU time on most nodes at once waits for something that they
// share: its limit is then one of the cluster, and not one of each node.
void ClusterPlanner::share_limits(const ClusterReport& report, std::vector<PlannedNode>& nodes) {
  std::size_t fed = 0;
  for (const PlannedNode& node : nodes) fed += node.fed || node.trainer ? 1 : 0;
  shared_ = 0;
  for (std::size_t i = 0; i < nodes.front().costs.size(); ++i) {
    std::size_t limited = 0;
    double sum = 0;
    for (std::size_t k = 0; k < nodes.size(); ++k) {
      if (!nodes[k].fed && !nodes[k].trainer) continue;
      const double limit = nodes[k].costs[i].max_rate;
      limited += limit > 0 ? 1 : 0;
      sum += limit > 0 ? limit : nodes_.at(report.nodes[k].name).belief.rate();
    }
    if (limited < 2 || static_cast<double>(limited) < kMostOf * static_cast<double>(fed)) continue;
    for (PlannedNode& node : nodes) node.costs[i].max_rate = 0;
    const double most = std::max(sum, rate_) * kAbove;
    shared_ = shared_ > 0 ? std::min(shared_, most) : most;
  }
}

// Places for what all nodes work on: with order kept, a split that is early waits for the slowest.
std::uint32_t ClusterPlanner::wanted_prefetch(const std::vector<PlannedNode>& nodes) const {
  constexpr std::uint32_t kTimes = 2;
  std::uint32_t least = 1;
  for (const PlannedNode& node : nodes) {
    if (node.trainer) least = node.description.default_prefetch;
  }
  return std::max(least, nodes.size() > 1 ? kTimes * in_flight_ : 0);
}

// Beyond the workers that are here, as many as would make what lacks if they were like these.
std::uint32_t ClusterPlanner::worth_having(const JointPlan& plan,
                                           const std::vector<PlannedNode>& nodes) const {
  std::size_t here = 0;
  double all = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (nodes[k].trainer) continue;
    ++here;
    all += plan.nodes[k].splits_per_second;
  }
  if (plan.fed < here || plan.lacks <= 0 || shared_ > 0) return plan.fed;
  if (here == 0 || all <= 0) return plan.fed + 1;
  const double mean = all / static_cast<double>(here);
  return plan.fed + static_cast<std::uint32_t>(
                        std::min(std::ceil(plan.lacks / mean), static_cast<double>(here)));
}

ClusterAdvice ClusterPlanner::decide(const ClusterReport& report) {
  observe(report);
  ClusterAdvice advice{.number = ++number_, .demand = demand_};
  if (report.nodes.empty()) return advice;
  std::vector<PlannedNode> nodes = planned_nodes(report);
  share_limits(report, nodes);
  const std::uint32_t prefetch = wanted_prefetch(nodes);
  for (PlannedNode& node : nodes) node.prefetch = prefetch;
  JointNeeds needs{.demand = demand_, .shared = shared_, .reached = kReached};
  JointPlan plan = plan_cluster(nodes, needs);
  needs.workers =
      count_.decide({.planned = plan.fewest,
                     .available = static_cast<std::uint32_t>(nodes.size()) - 1,
                     .wanted = rate_ > 0 ? plan.wanted : 0,
                     .rate = rate_,
                     .waited = waited_});
  if (*needs.workers != plan.fed) plan = plan_cluster(nodes, needs);
  in_flight_ = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    nodes_.at(report.nodes[k].name).fed = plan.nodes[k].fed;
    if (plan.nodes[k].fed) in_flight_ += plan.nodes[k].allocation.total_actors();
  }
  advice.fed = plan.fed;
  advice.workers = worth_having(plan, nodes);
  advice.splits_per_second = plan.splits_per_second;
  advice.reason = "central " + std::to_string(number_) + ": feeds " + std::to_string(plan.fed) +
                  " of " + std::to_string(nodes.size() - 1) + " workers (" + count_.why() + "), " +
                  rounded(rate_) + " of " + rounded(demand_) + " splits/s";
  advice.nodes = std::move(plan.nodes);
  return advice;
}

}  // namespace forebay::tuner
