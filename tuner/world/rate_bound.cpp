#include "tuner/world/rate_bound.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "tuner/plan/plan.h"
#include "tuner/world/world_layout.h"

namespace forebay::tuner {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

double units_of(const PipelineModel& model, const std::string& resource) {
  double units = 0;
  for (const StageModel& stage : model.stages) {
    for (const ResourceUse& use : stage.uses) units += use.resource == resource ? use.units : 0;
  }
  return units;
}

/// The least rate that resources of `node`, or those that all share, allow.
double resource_bound(const PipelineModel& model, std::optional<std::size_t> node) {
  double bound = kUnbounded;
  for (const ResourceModel& resource : model.resources) {
    if (resource.node != node) continue;
    const double units = units_of(model, resource.name);
    if (units > 0) bound = std::min(bound, resource.rate / units);
  }
  return bound;
}

double fastest(const StageCost& cost, std::uint32_t most) {
  double best = 0;
  for (std::uint32_t n = 1; n <= most; ++n) best = std::max(best, cost.rate(n));
  return best;
}

/// `actors` is the node's part of an allocation; null: the fastest.
double node_bound(const PipelineModel& model, std::size_t k, const Allocation* actors) {
  const NodeModel node = nodes_of(model)[k];
  if (!node.present) return 0;
  double bound = resource_bound(model, k);
  double busy = 0;
  for (std::size_t i = 0; i < model.stages.size(); ++i) {
    StageCost cost = model.stages[i];
    cost.seconds *= node.seconds_factor * tail_factor(model.stages[i]);
    const double n = actors == nullptr ? 1 : actors->actors[i];
    bound = std::min(bound,
                     actors == nullptr ? fastest(cost, model.stages[i].max_actors) : cost.rate(n));
    busy += cost.seconds * cost.cpu * cost.slow(n);
  }
  if (busy > 0) bound = std::min(bound, node.cpus / busy);
  const auto bytes = static_cast<double>(model.stages.back().bytes_out);
  if (node.has_link() && bytes > 0) bound = std::min(bound, node.link_rate / bytes);
  return bound;
}

double bound_of(const PipelineModel& model, const Allocation* whole) {
  double made = 0;
  for (std::size_t k = 0; k < nodes_of(model).size(); ++k) {
    if (whole == nullptr) {
      made += node_bound(model, k, nullptr);
      continue;
    }
    const Allocation part = part_of_node(*whole, model, k);
    made += node_bound(model, k, &part);
  }
  double trained = trainer_rate_of(model) > 0 ? trainer_rate_of(model) : kUnbounded;
  if (model.pause) trained *= 1 - model.pause->seconds / model.pause->every;
  return std::min({made, trained, resource_bound(model, std::nullopt)});
}

}  // namespace

double tail_factor(const StageModel& stage) {
  // A run of thousands of splits rarely meets what makes the mean of a heavier tail.
  constexpr double kHeaviest = 1.5;
  if (!stage.tail) return 1;
  return 1 + stage.tail->share / (std::max(stage.tail->shape, kHeaviest) - 1);
}

double rate_bound(const PipelineModel& steady, const Allocation& allocation) {
  return bound_of(steady, &allocation);
}

double node_rate_bound(const PipelineModel& steady, std::size_t node) {
  return node_bound(steady, node, nullptr);
}

double rate_bound(const PipelineModel& steady) { return bound_of(steady, nullptr); }

}  // namespace forebay::tuner
