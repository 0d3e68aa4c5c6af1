#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tuner/cluster/cluster_planner.h"
#include "tuner/compare/drive.h"
#include "tuner/world/modelled_world.h"
#include "tuner/world/node_pipeline.h"

namespace forebay::tuner {

/// The policy that decides for all nodes together.
inline constexpr std::string_view kCentralPolicy = "central";

/// A world under the central tuner: the nodes report together, and each gets its part of one
/// decision, which its own guard applies.
///
/// Owns the planner and a pipeline for each node; the world must outlive it, and it the parts.
class CentralRun {
 public:
  CentralRun(ModelledWorld& world, const PipelineModel& model);
  ~CentralRun();
  CentralRun(const CentralRun&) = delete;
  CentralRun& operator=(const CentralRun&) = delete;

  /// Makes what decides for a node whose policy fails.
  using MakeFallback = std::function<std::unique_ptr<Policy>(std::size_t node)>;
  /// A part for each node, in order. Call it once.
  std::vector<DrivenPart> parts(const MakeFallback& fallback);

  /// Mean number of fed workers over the last ten decisions.
  double mean_fed() const;

 private:
  class Part;
  class PartPolicy;

  /// Both gather, or decide, for all nodes once a node asks that has had its part.
  Observation observation_of(std::size_t node);
  NodeAdvice advice_for(std::size_t node);
  void gather();
  void decide();
  TrainerReport trainer_report();

  ModelledWorld& world_;
  std::size_t own_;
  ClusterPlanner planner_;
  std::vector<std::unique_ptr<Part>> nodes_;
  std::vector<Observation> seen_;  // by node, at the last look
  std::vector<bool> unread_;       // by node: of seen_
  SimTotals before_ = {};
  double paused_before_ = 0;
  std::vector<std::optional<NodeAdvice>> advice_;  // by node; none: it has had it
  std::string reason_;
  std::vector<double> fed_;  // of every decision
};

}  // namespace forebay::tuner
