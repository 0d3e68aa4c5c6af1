#pragma once

#include <vector>

#include "tuner/cluster/cluster_report.h"
#include "tuner/cluster/joint_plan.h"

namespace forebay::tuner {

/// Takes CPUs from the stages of the trainer's node for its model. The stages always keep a fifth
/// of what the node has. Returns the share of their CPUs that is left; what the node has shown
/// counts for as much.
double take_cpus(PlannedNode& own, double cpus, const Limits& limits);

/// Returns the splits/s that all nodes could make beside a model that never waits: where the model
/// waits for a share of its time, its threads leave CPUs to the stages that it would need. `nodes`
/// are those of the report, in order. Pure.
double able_beside_model(const ClusterReport& report, const std::vector<PlannedNode>& nodes,
                         double waited);

}  // namespace forebay::tuner
