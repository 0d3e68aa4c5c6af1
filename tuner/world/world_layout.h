#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tuner/allocation.h"
#include "tuner/sim/pipeline_model.h"

namespace forebay::tuner {

/// A world's allocation is one Allocation over nodes × stages: the actors of node k's stage i are
/// `actors[k · stages + i]`; the prefetch is the trainer's. Every function takes worlds and plain
/// models.

/// The model's nodes; of a file without any, one without a name.
std::vector<NodeModel> nodes_of(const PipelineModel& model);

/// The index of the trainer's own node.
std::size_t trainer_node_of(const PipelineModel& model);

/// `n1.load`, …; without named nodes the names of the stages.
std::vector<std::string> line_names(const PipelineModel& model);

/// What is declared of one node, for its own tuner and its memory: what is on a link counts on its
/// node, what is prefetched on the trainer's.
PipelineDescription node_description(const PipelineModel& model, std::size_t node);

/// What is declared of all nodes, as one line of stages with the names of line_names(). Its bytes
/// are sums; whether an allocation is legal is a matter of each node (see fits).
PipelineDescription world_description(const PipelineModel& model);

/// Seconds from `from` to `to` in which the trainer's pauses fall.
double paused_between(const PipelineModel& model, double from, double to);

/// The same pipeline without named nodes, where it has but one of them: kept are that node's limits
/// and speed. Nothing where it has more, or where events change that node's speed.
std::optional<PipelineModel> as_one_node(const PipelineModel& model);

/// The part of a world's allocation that is a node's.
Allocation part_of_node(const Allocation& whole, const PipelineModel& model, std::size_t node);

/// Whether the worst case of memory fits into every node's limit.
bool fits(const PipelineModel& model, const Allocation& allocation);

}  // namespace forebay::tuner
