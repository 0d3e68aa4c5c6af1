#include "tuner/world/world_layout.h"

#include <algorithm>
#include <cmath>

namespace forebay::tuner {
namespace {

/// Whether the node has a link, or an event gives it one.
bool may_have_link(const PipelineModel& model, std::size_t node) {
  return nodes_of(model)[node].has_link() ||
         std::ranges::any_of(model.events, [node](const ModelEvent& event) {
           return event.node == node && event.link_rate;
         });
}

}  // namespace

std::vector<NodeModel> nodes_of(const PipelineModel& model) {
  if (!model.nodes.empty()) return model.nodes;
  return {{.cpus = model.cpus, .memory_bytes = model.memory_bytes, .trainer = true}};
}

std::size_t trainer_node_of(const PipelineModel& model) {
  const auto own = std::ranges::find(model.nodes, true, &NodeModel::trainer);
  return own == model.nodes.end() ? 0 : static_cast<std::size_t>(own - model.nodes.begin());
}

std::vector<std::string> line_names(const PipelineModel& model) {
  std::vector<std::string> names;
  for (const NodeModel& node : nodes_of(model)) {
    for (const StageModel& stage : model.stages) {
      names.push_back(node.name.empty() ? stage.name : node.name + "." + stage.name);
    }
  }
  return names;
}

PipelineDescription node_description(const PipelineModel& model, std::size_t index) {
  const NodeModel node = nodes_of(model)[index];
  PipelineModel own = model;
  own.cpus = node.cpus;
  own.memory_bytes = node.memory_bytes;
  PipelineDescription description = description_of(own);
  if (node.trainer) return description;
  // A split that has left is on the link, which has a queue's room; without one it is gone.
  if (may_have_link(model, index)) {
    description.fixed_bytes += model.queue_splits * description.prefetch_item_bytes;
  }
  description.prefetch_item_bytes = 0;
  description.max_prefetch = description.default_prefetch = 1;
  return description;
}

PipelineDescription world_description(const PipelineModel& model) {
  const std::size_t own = trainer_node_of(model);
  PipelineDescription whole = node_description(model, own);
  whole.stages.clear();
  whole.fixed_bytes = 0;
  const std::vector<std::string> names = line_names(model);
  for (std::size_t k = 0; k < nodes_of(model).size(); ++k) {
    PipelineDescription part = node_description(model, k);
    whole.fixed_bytes += part.fixed_bytes;
    for (StageDescription& stage : part.stages) {
      stage.name = names[whole.stages.size()];
      whole.stages.push_back(std::move(stage));
    }
  }
  return whole;
}

double paused_between(const PipelineModel& model, double from, double to) {
  if (!model.pause) return 0;
  const auto until = [&](double at) {
    if (at < model.pause->every) return 0.0;
    const double whole = std::floor(at / model.pause->every);
    const double since = at - whole * model.pause->every;
    return (whole - 1) * model.pause->seconds + std::min(since, model.pause->seconds);
  };
  return until(to) - until(from);
}

std::optional<PipelineModel> as_one_node(const PipelineModel& model) {
  if (model.nodes.empty()) return model;
  if (model.nodes.size() > 1) return std::nullopt;
  PipelineModel one = model;
  const NodeModel node = model.nodes.front();
  one.nodes.clear();
  one.cpus = node.cpus;
  one.memory_bytes = node.memory_bytes;
  for (StageModel& stage : one.stages) stage.seconds *= node.seconds_factor;
  for (ResourceModel& resource : one.resources) resource.node.reset();
  for (ModelEvent& event : one.events) {
    if (event.node && event.seconds_factor) return std::nullopt;
    event.node.reset();
  }
  return one;
}

Allocation part_of_node(const Allocation& whole, const PipelineModel& model, std::size_t node) {
  const auto first = whole.actors.begin() + static_cast<std::ptrdiff_t>(node * model.stages.size());
  Allocation part{.actors = {first, first + static_cast<std::ptrdiff_t>(model.stages.size())}};
  if (nodes_of(model)[node].trainer) part.prefetch = whole.prefetch;
  return part;
}

bool fits(const PipelineModel& model, const Allocation& allocation) {
  const std::vector<NodeModel> nodes = nodes_of(model);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    const std::uint64_t bytes =
        worst_case_bytes(node_description(model, k), part_of_node(allocation, model, k));
    if (bytes > nodes[k].memory_bytes) return false;
  }
  return true;
}

}  // namespace forebay::tuner
