#pragma once

#include <cstddef>

#include "tuner/tuned_pipeline.h"
#include "tuner/world/modelled_world.h"

namespace forebay::tuner {

/// One node of a world as a tuned pipeline: what its own tuner sees and sets.
class NodePipeline final : public TunedPipeline {
 public:
  /// The world outlives it.
  NodePipeline(ModelledWorld& world, std::size_t node)
      : world_(&world), node_(node), description_(world.description_of(node)) {}

  const PipelineDescription& description() const override { return description_; }
  CurrentState current() const override { return world_->current_of(node_); }
  Observation observe() override { return world_->observe_node(node_); }
  void apply(const Allocation& allocation) override { world_->apply_to(node_, allocation); }

 private:
  ModelledWorld* world_;
  std::size_t node_;
  PipelineDescription description_;
};

}  // namespace forebay::tuner
