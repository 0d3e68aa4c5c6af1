#pragma once

#include <cstddef>

#include "tuner/tuned_pipeline.h"
#include "tuner/world/world_layout.h"
#include "tuner/world/world_simulator.h"

namespace forebay::tuner {

/// One node of a simulated world as a tuned pipeline: what its own tuner sees and sets.
class NodePipeline final : public TunedPipeline {
 public:
  /// The simulator outlives it.
  NodePipeline(WorldSimulator& world, const PipelineModel& model, std::size_t node)
      : world_(&world), node_(node), description_(node_description(model, node)) {}

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override { return world_->current_of(node_); }
  Observation observe() override { return world_->observe_node(node_); }
  void apply(const Allocation& allocation) override { world_->apply_to(node_, allocation); }

 private:
  WorldSimulator* world_;
  std::size_t node_;
  PipelineDescription description_;
};

}  // namespace forebay::tuner
