#include "tuner/world/world_speeds.h"

#include <utility>
#include <vector>

#include "tuner/world/world_layout.h"

namespace forebay::tuner {
namespace {

/// What a stage uses of the resources that a node sees.
std::vector<SharedSpeeds::Use> uses_on(const PipelineModel& model, const StageModel& stage,
                                       std::size_t node) {
  std::vector<SharedSpeeds::Use> uses;
  for (const ResourceUse& use : stage.uses) {
    for (std::size_t r = 0; r < model.resources.size(); ++r) {
      const ResourceModel& resource = model.resources[r];
      if (resource.name == use.resource && resource.node.value_or(node) == node) {
        uses.push_back({.resource = r, .units = use.units});
      }
    }
  }
  return uses;
}

}  // namespace

SharedSpeeds speeds_of(const PipelineModel& model) {
  const std::vector<NodeModel> nodes = nodes_of(model);
  std::vector<SharedSpeeds::Resource> resources;
  for (const ResourceModel& each : model.resources) {
    resources.push_back({.rate = each.rate, .stalls_cpu = each.stalls_cpu()});
  }
  std::vector<double> cpus;
  cpus.reserve(nodes.size());
  for (const NodeModel& node : nodes) cpus.push_back(node.cpus);
  SharedSpeeds speeds(resources, cpus);
  for (std::size_t k = 0; k < nodes.size(); ++k) {
    for (const StageModel& stage : model.stages) {
      speeds.add_line(k, stage.cpu, uses_on(model, stage, k));
    }
  }
  return speeds;
}

}  // namespace forebay::tuner
