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
  std::vector<std::uint32_t> reach = {};  ///< Actors of each stage that are safe to try next.
  std::vector<StageCost> costs = {};
  std::vector<double> noise = {};  ///< Coefficients of variation, by stage.
  double loss_scale = 1;           ///< As RateConditions.
  Limits limits = {};              ///< CPUs for the stages.
  bool trainer = false;
  bool fed = true;              ///< Whether it is fed now: of equal nodes it stays so.
  double link_rate = 0;         ///< Plain splits/s that its link carries; 0: no limit is known.
  std::vector<LinkWay> ways = {};
  std::uint32_t prefetch = 1;   ///< Of the trainer's node: items wanted.
};

/// What a joint plan has to reach.
struct JointNeeds {
  double demand = 0;  ///< Splits/s that the trainer takes; 0: as many as possible.
  double shared = 0;  ///< Splits/s that a limit shared by all nodes allows; 0: none is known.
  /// The number of workers to feed; empty: as few as reach the rate by the costs.
  std::optional<std::uint32_t> workers = {};
  double reached = 1;  ///< The share of what the costs allow that nodes have been seen to reach.
};

/// One allocation over nodes × stages.
struct JointPlan {
  std::vector<NodeAdvice> nodes = {};  ///< In the order of the nodes.
  std::uint32_t fewest = 0;    ///< Workers with which the rate is reached by the costs alone.
  std::uint32_t fed = 0;       ///< Workers that are fed.
  double wanted = 0;           ///< Splits/s: the least of demand, shared limit and all capacity.
  double splits_per_second = 0;///< Expected.
  double lacks = 0;            ///< Splits/s of the demand that no node here can make.
};

/// The rate of a node with the best allocation and the best way to send. Splits/s.
struct NodeCapability {
  double splits_per_second = 0;
  std::size_t way = 0;
};
NodeCapability capability_of(const PlannedNode& node);

/// Allocates all nodes together: the largest rate up to the demand, then the fewest workers, then
/// the fewest actors. Workers are taken by capability, the largest first; each fed node gets the
/// same share of its capability. Pure.
JointPlan plan_cluster(const std::vector<PlannedNode>& nodes, const JointNeeds& needs);

}  // namespace forebay::tuner
