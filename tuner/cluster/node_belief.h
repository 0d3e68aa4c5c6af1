#pragma once

#include <utility>

#include "tuner/cluster/cluster_report.h"
#include "tuner/cluster/joint_plan.h"
#include "tuner/model/pipeline_estimate.h"
#include "tuner/model/planner.h"

namespace forebay::tuner {

/// What the planner believes of one node: its stages' costs, and what its link carries. A value.
class NodeBelief {
 public:
  explicit NodeBelief(const PipelineDescription& description) : known_(description) {}

  /// Adds an interval. `waits`: whether the trainer waited for data, so that finished splits on the
  /// node wait for its link and not for the trainer.
  void observe(const NodeReport& report, bool waits);

  /// Whether every stage has completed a split: only then the costs are its own.
  bool shown() const;
  /// Splits/s that it handed over in the last interval.
  double rate() const { return rate_; }
  /// Splits/s that left its last stage in the last interval, handed over or not.
  double made() const { return made_; }
  /// Some of its CPUs go to other work, and `left` is the share of them that stays: what it has
  /// shown counts for as much.
  void keep_cpus(double left) { shown_rate_ *= left; }
  /// The node for the planner.
  PlannedNode planned(const NodeReport& report) const;
  /// Returns `wanted`, or how far one step from the current allocation may safely go there.
  Allocation safe(Allocation wanted, const Allocation& current) const {
    return safe_step(known_, std::move(wanted), current);
  }

 private:
  void observe_link(const NodeReport& report, bool waits);

  PipelineEstimate known_;
  double rate_ = 0;
  double made_ = 0;
  double shown_rate_ = 0;  // the most of late, fading
  double link_rate_ = 0;   // plain splits/s; 0: never seen at its limit
};

}  // namespace forebay::tuner
