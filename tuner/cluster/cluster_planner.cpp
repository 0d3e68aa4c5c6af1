#include "tuner/cluster/cluster_planner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tuner/cluster/model_cpus.h"
#include "tuner/policy.h"

namespace forebay::tuner {
namespace {

constexpr double kShort = 0.05;      // a share from which more room for early splits is worth it
constexpr double kEarlyFill = 0.25;  // of the prefetch
constexpr double kMoreRoom = 2;      // times the prefetch
constexpr double kNoPlaces = 0.6;    // of the time of the actors that begin splits
constexpr double kLeastBusy = 0.02;  // of an interval
constexpr double kNew = 0.5;         // weight of an interval in the demand
constexpr double kReached = 0.97;    // of what the costs allow: noise takes the rest
constexpr double kMostOf = 0.5;    // a share of the fed nodes: a limit that so many meet is shared
constexpr double kEnough = 0.995;  // of the wanted rate
constexpr double kHopeful = 0.88;  // of it, where nodes make more than their costs say
constexpr double kFades = 0.99;    // of a rate that was reached, an interval later
constexpr double kAbove = 1.03;    // times a shared limit's rate is planned for
constexpr int kSettled = 3;        // intervals after which nodes that came or went are settled
constexpr double kRuns = 0.5;      // a share of an interval: a trainer that runs less says little

std::string rounded(double value) {
  return std::to_string(static_cast<std::uint64_t>(std::llround(std::max(0.0, value))));
}

/// Whether no split may begin for most of the time: all places for early ones are taken.
bool has_no_places(const Observation& seen) {
  const StageObservation& first = seen.stages.front();
  return first.input_wait_seconds > kNoPlaces * first.actor_seconds;
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

void ClusterPlanner::observe_trainer(const TrainerReport& trainer) {
  waited_ = trainer.seconds > 0
                ? std::clamp(trainer.waited_seconds / trainer.seconds, 0.0, 1 - kLeastBusy)
                : 0;
  const double whole = trainer.seconds + trainer.paused_seconds;
  running_ = whole > 0 ? trainer.seconds / whole : 1;
}

// A trainer that paused took its splits in the rest of the interval.
void ClusterPlanner::observe(const ClusterReport& report) {
  observe_trainer(report.trainer);
  const bool runs = running_ >= kRuns;
  rate_ = made_ = 0;
  for (const NodeReport& node : report.nodes) {
    Kept& kept = kept_of(node);
    kept.seen = number_;
    kept.belief.observe(node, waited_ > kFedWait);
    rate_ += kept.belief.rate() / (runs ? running_ : 1);
    made_ += kept.belief.made() / (runs ? running_ : 1);
  }
  best_rate_ = std::max(rate_, best_rate_ * kFades);
  if (rate_ <= 0 || !runs) return;
  const double demand = rate_ / (1 - waited_);
  demand_ = demand_ > 0 ? demand_ + kNew * (demand - demand_) : demand;
}

void ClusterPlanner::forget_old_nodes() {
  std::erase_if(nodes_,
                [this](const auto& each) { return number_ - each.second.seen > kForgottenAfter; });
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
  shared_ = 0;
  for (std::size_t i = 0; i < nodes.front().costs.size(); ++i) {
    const double rate = shared_rate(report, nodes, i);
    if (rate <= 0) continue;
    for (PlannedNode& node : nodes) node.costs[i].max_rate = 0;
    const double most = std::max(rate, best_rate_) * kAbove;
    shared_ = shared_ > 0 ? std::min(shared_, most) : most;
  }
}

double ClusterPlanner::shared_rate(const ClusterReport& report,
                                   const std::vector<PlannedNode>& nodes, std::size_t stage) const {
  std::size_t fed = 0;
  std::size_t limited = 0;
  double sum = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (!nodes[k].fed && !nodes[k].trainer) continue;
    ++fed;
    const double limit = nodes[k].costs[stage].max_rate;
    if (limit > 0) ++limited;
    sum += limit > 0 ? limit : nodes_.at(report.nodes[k].name).belief.rate();
  }
  const bool most = static_cast<double>(limited) >= kMostOf * static_cast<double>(fed);
  return limited >= 2 && most ? sum : 0;
}

// Finished splits that wait while the trainer does are early: the next one in order takes long. So
// they get more room, until the memory ends or the trainer waits no longer.
double ClusterPlanner::held_back(const ClusterReport& report) {
  for (const NodeReport& node : report.nodes) {
    if (!node.trainer || !node.fresh) continue;
    const bool waits = node.seen.prefetch_fill > kEarlyFill || has_no_places(node.seen);
    const bool early = waited_ > kShort && waits;
    if (early) prefetch_ = std::max(prefetch_, kMoreRoom * node.seen.prefetch);
    prefetch_ = std::min(prefetch_, static_cast<double>(node.description.max_prefetch));
  }
  return prefetch_;
}

double ClusterPlanner::able_fed(const std::vector<PlannedNode>& nodes,
                                const ClusterCapability& can) {
  double able = can.own;
  for (const std::size_t k : can.workers) {
    if (nodes[k].fed) able += can.nodes[k].splits_per_second;
  }
  return able;
}

// Beyond the workers that are here, as many as would make what lacks if they were like these, if
// the trainer waits.
std::uint32_t ClusterPlanner::worth_having(const ClusterCapability& can) const {
  const std::uint32_t settled = count_.settled();
  const auto here = static_cast<std::uint32_t>(can.workers.size());
  if (settled < here || can.lacks <= 0 || shared_ > 0 || waited_ <= kFedWait) return settled;
  double all = 0;
  for (const std::size_t k : can.workers) all += can.nodes[k].splits_per_second;
  if (here == 0 || all <= 0) return settled + 1;
  const double more = std::ceil(can.lacks * here / all);
  return settled + static_cast<std::uint32_t>(std::min(more, static_cast<double>(here)));
}

void ClusterPlanner::look_for_changes(const ClusterReport& report) {
  std::vector<std::string> names;
  names.reserve(report.nodes.size());
  for (const NodeReport& node : report.nodes) names.push_back(node.name);
  same_nodes_ = names == names_ ? same_nodes_ + 1 : 0;
  names_ = std::move(names);
}

JointNeeds ClusterPlanner::needs() const {
  return {.demand = demand_, .shared = shared_, .reached = kReached};
}

// A number of threads is worth what the trainer takes with it, as far as the nodes can make that
// beside it: a rate that more workers would bring counts, though they are not fed yet.
double ClusterPlanner::worth_of_threads(const ClusterReport& report,
                                        const std::vector<PlannedNode>& nodes) const {
  const TrainerReport& trainer = report.trainer;
  if (trainer.most_threads == 0 || trainer.able <= 0) return 0;
  double able = kReached * able_beside_model(report, nodes, waited_);
  if (shared_ > 0) able = std::min(able, shared_ / kAbove);
  return std::max(rate_, std::min(trainer.able, able));
}

// More threads take CPUs from the stages of the trainer's node at once, and in every decision until
// the model has them: what it has shown counts for less from then on, once for each number. What
// fewer leave is measured in the next interval.
void ClusterPlanner::take_cpus_for(std::uint32_t threads, const ClusterReport& report,
                                   std::vector<PlannedNode>& nodes) {
  const std::uint32_t more = threads - report.trainer.threads;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    if (!nodes[k].trainer) continue;
    const double left = take_cpus(nodes[k], more, report.nodes[k].limits);
    if (threads != taken_for_) nodes_.at(report.nodes[k].name).belief.keep_cpus(left);
  }
}

void ClusterPlanner::decide_threads(const ClusterReport& report, std::vector<PlannedNode>& nodes) {
  const TrainerReport& trainer = report.trainer;
  const bool quiet = same_nodes_ >= kSettled && count_.rests();
  advised_threads_ = threads_.decide({.now = trainer.threads,
                                      .most = trainer.most_threads,
                                      .value = worth_of_threads(report, nodes),
                                      .fed = waited_ <= kShort,
                                      .quiet = quiet});
  if (advised_threads_ > trainer.threads) take_cpus_for(advised_threads_, report, nodes);
  taken_for_ = advised_threads_;
}

CountSeen ClusterPlanner::count_seen(const std::vector<PlannedNode>& nodes,
                                     const ClusterCapability& can) const {
  return {.planned = can.fewest(kEnough),
          .least = can.fewest(kHopeful),
          .available = static_cast<std::uint32_t>(can.workers.size()),
          .wanted = rate_ > 0 ? can.wanted : 0,
          .demand = demand_,
          .able = able_fed(nodes, can),
          .rate = demand_ > 0 ? std::min(made_, demand_) : made_,
          .waited = waited_,
          .held = threads_.tries() || running_ < kRuns,
          .renewed = threads_.kept()};
}

std::string ClusterPlanner::reason(const ClusterAdvice& advice, std::size_t workers) const {
  std::string text = "central " + std::to_string(number_) + ": feeds " +
                     std::to_string(advice.fed) + " of " + std::to_string(workers) + " workers (" +
                     count_.why() + "), " + rounded(rate_) + " of " + rounded(demand_) +
                     " splits/s";
  if (advice.threads == 0) return text;
  return text + ", model threads " + std::to_string(advice.threads) + " (" + threads_.why() + ")";
}

ClusterAdvice ClusterPlanner::decide(const ClusterReport& report) {
  ++number_;
  observe(report);
  forget_old_nodes();
  ClusterAdvice advice{.number = number_, .demand = demand_};
  if (report.nodes.empty()) return advice;
  look_for_changes(report);
  std::vector<PlannedNode> nodes = planned_nodes(report);
  share_limits(report, nodes);
  decide_threads(report, nodes);
  const ClusterCapability can = capability_of(nodes, needs());
  const std::uint32_t workers = count_.decide(count_seen(nodes, can));
  JointPlan plan = plan_cluster(nodes, can, {.workers = workers, .prefetch = held_back(report)});
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    Kept& kept = nodes_.at(report.nodes[k].name);
    kept.fed = plan.nodes[k].fed;
    Allocation& allocation = plan.nodes[k].allocation;
    if (kept.fed) allocation = kept.belief.safe(std::move(allocation), nodes[k].current);
  }
  advice.fed = plan.fed;
  advice.workers = worth_having_.of(worth_having(can));
  advice.threads = advised_threads_;
  advice.splits_per_second = plan.splits_per_second;
  advice.reason = reason(advice, can.workers.size());
  advice.nodes = std::move(plan.nodes);
  return advice;
}

}  // namespace forebay::tuner
