#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/cluster/cluster_report.h"
#include "tuner/plan/plan.h"

namespace forebay::tuner {

/// A node with its costs, known or estimated.
struct PlannedNode {
  PipelineDescription description = {};
  std::vector<StageCost> costs = {};
  std::vector<double> noise = {};  ///< Coefficients of variation, by stage.
  double loss_scale = 1;           ///< As RateConditions.
  Limits limits = {};              ///< CPUs for the stages.
  Allocation current = {};
  bool trainer = false;
  bool fed = true;        ///< Whether it is fed now: of equal nodes it stays so.
  double shown_rate = 0;  ///< Splits/s that it made lately: it can make at least that.
  double link_rate = 0;   ///< Plain splits/s that its link carries; 0: no limit is known.
  std::vector<LinkWay> ways = {};
};

/// What a joint plan has to reach.
struct JointNeeds {
  double demand = 0;   ///< Splits/s that the trainer takes; 0: as many as possible.
  double shared = 0;   ///< Splits/s that a limit shared by all nodes allows; 0: none is known.
  double reached = 1;  ///< The share of what the costs allow that nodes have been seen to reach.
};

/// The rate of a node with the best allocation and the best way to send. Splits/s.
struct NodeCapability {
  double splits_per_second = 0;
  std::size_t way = 0;
};
NodeCapability capability_of(const PlannedNode& node);

/// What the nodes can make together.
struct ClusterCapability {
  std::vector<NodeCapability> nodes = {};  ///< In their order, times the share that is reached.
  std::vector<std::size_t> workers = {};   ///< Nodes beside the trainer's, the largest first.
  double own = 0;                          ///< Splits/s of the trainer's node.
  double wanted = 0;  ///< Splits/s: the least of demand, shared limit and all nodes' rates.
  double lacks = 0;   ///< Splits/s of the demand that no node here can make.

  /// The fewest workers with which `share` of the wanted rate is reached.
  std::uint32_t fewest(double share) const;
};
ClusterCapability capability_of(const std::vector<PlannedNode>& nodes, const JointNeeds& needs);

/// One allocation over nodes × stages.
struct JointPlan {
  std::vector<NodeAdvice> nodes = {};  ///< In the order of the nodes.
  std::uint32_t fed = 0;               ///< Workers that are fed.
  double splits_per_second = 0;        ///< Expected.
  double longest_seconds = 0;          ///< That a split takes on the slowest fed node, roughly.
};

/// How many workers are fed, and how many items of prefetch are wanted at least.
struct Feeding {
  std::uint32_t workers = 0;
  double prefetch = 0;
};

/// Allocates all nodes together: feeds the `workers` largest ones and the trainer's own, gives each
/// the same share of its capability, so that together they make the wanted rate, and as few actors
/// as make that. Pure.
JointPlan plan_cluster(const std::vector<PlannedNode>& nodes, const ClusterCapability& can,
                       const Feeding& feeding);

}  // namespace forebay::tuner
