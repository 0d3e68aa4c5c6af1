#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tuner/cluster/cluster_report.h"
#include "tuner/cluster/joint_plan.h"
#include "tuner/cluster/node_belief.h"
#include "tuner/cluster/steady_count.h"
#include "tuner/cluster/thread_count.h"
#include "tuner/cluster/worker_count.h"

namespace forebay::tuner {

/// The central tuner: one decision over nodes × stages (design/central_tuner.md).
///
/// Keeps a belief for every node by its name, also while the node is away, for kForgottenAfter
/// decisions: workers that are started again and again have new names. Plans with the nodes of the
/// report; a node that has shown nothing yet is planned with the costs of the others. Pure
/// state: the same reports give the same advice. Not thread-safe.
class ClusterPlanner {
 public:
  static constexpr std::uint64_t kForgottenAfter = 2000;

  ClusterAdvice decide(const ClusterReport& report);

 private:
  struct Kept {
    NodeBelief belief;
    PipelineDescription description;
    bool fed = true;
    std::uint64_t seen = 0;  // the number of the last decision that it was planned in
  };

  void observe(const ClusterReport& report);
  void observe_trainer(const TrainerReport& trainer);
  void forget_old_nodes();
  Kept& kept_of(const NodeReport& report);
  std::vector<PlannedNode> planned_nodes(const ClusterReport& report);
  void share_limits(const ClusterReport& report, std::vector<PlannedNode>& nodes);
  double shared_rate(const ClusterReport& report, const std::vector<PlannedNode>& nodes,
                     std::size_t stage) const;
  double held_back(const ClusterReport& report);
  void look_for_changes(const ClusterReport& report);
  JointNeeds needs() const;
  void decide_threads(const ClusterReport& report, std::vector<PlannedNode>& nodes);
  double worth_of_threads(const ClusterReport& report, const std::vector<PlannedNode>& nodes) const;
  CountSeen count_seen(const std::vector<PlannedNode>& nodes, const ClusterCapability& can) const;
  std::string reason(const ClusterAdvice& advice, std::size_t workers) const;
  /// Splits/s that the nodes which are fed now could make.
  static double able_fed(const std::vector<PlannedNode>& nodes, const ClusterCapability& can);
  std::uint32_t worth_having(const ClusterCapability& can) const;
  void take_cpus_for(std::uint32_t threads, const ClusterReport& report,
                     std::vector<PlannedNode>& nodes);

  std::map<std::string, Kept> nodes_;
  WorkerCount count_;
  SteadyCount worth_having_;
  ThreadCount threads_;
  std::uint32_t advised_threads_ = 0;  // 0: the model keeps its own
  std::uint32_t taken_for_ = 0;        // threads for which the trainer's node has given CPUs
  std::vector<std::string> names_;     // of the nodes in the last report
  int same_nodes_ = 0;                 // intervals with these nodes, after the first one
  std::uint64_t number_ = 0;
  double running_ = 1;    // the trainer's share of the last interval without pauses
  double rate_ = 0;       // splits/s of all nodes in the last interval, while the trainer ran
  double made_ = 0;       // the same, waiting ones too
  double best_rate_ = 0;  // the most of late, fading
  double waited_ = 0;     // the trainer's share of time
  double demand_ = 0;     // splits/s; 0: not known
  double prefetch_ = 0;   // items that early splits need; 0: none were seen to wait
  double shared_ = 0;     // splits/s that a limit of several nodes allows; 0: none
};

}  // namespace forebay::tuner
