#include "tuner/cluster/model_cpus.h"

#include <algorithm>

namespace forebay::tuner {
namespace {

constexpr double kOfStages = 0.2;  // of the node's CPUs: the stages always get so many

}  // namespace

double take_cpus(PlannedNode& own, double cpus, const Limits& limits) {
  const double before = own.limits.cpus;
  own.limits.cpus = std::max(before - cpus, std::min(before, limits.cpus * kOfStages));
  const double left = own.limits.cpus / before;
  own.shown_rate *= left;
  return left;
}

double able_beside_model(const ClusterReport& report, const std::vector<PlannedNode>& nodes,
                         double waited) {
  double able = 0;
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    PlannedNode node = nodes[k];
    if (node.trainer) take_cpus(node, waited * report.trainer.threads, report.nodes[k].limits);
    able += capability_of(node).splits_per_second;
  }
  return able;
}

}  // namespace forebay::tuner
