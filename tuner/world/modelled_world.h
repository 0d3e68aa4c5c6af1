#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "core/base/result.h"
#include "tuner/sim/simulator.h"

namespace forebay::tuner {

/// Sums of one node since the start.
struct NodeTotals {
  std::uint64_t trained = 0;  ///< Of its splits, those that the trainer finished.
  double cpu_seconds = 0;
  std::uint64_t memory_peak = 0;
  bool out_of_memory = false;
};

/// A world that runs, in simulated or in real time: to a caller one pipeline whose stages are the
/// lines nodes × stages (world_layout.h), of which each node can also be observed and resized by
/// itself. After running out of memory on any node it stands still.
class ModelledWorld : public ModelledPipeline {
 public:
  virtual std::size_t nodes() const = 0;
  /// Seconds since the start.
  virtual double now() const = 0;
  /// Seconds since the start in which the trainer paused.
  virtual double paused_seconds() const = 0;
  virtual bool present(std::size_t node) const = 0;
  /// What is declared of one node, for its own tuner.
  virtual PipelineDescription description_of(std::size_t node) const = 0;
  virtual CurrentState current_of(std::size_t node) const = 0;
  /// What the node itself can measure; a split that it handed over is an item. On a node without
  /// the trainer, the consumer is busy while an actor waits to hand over, and else waits.
  virtual Observation observe_node(std::size_t node) = 0;
  /// Resizes one node; the prefetch is set by the trainer's own.
  virtual void apply_to(std::size_t node, const Allocation& allocation) = 0;
  /// Whether the node may start splits; what it has started goes on. True at the start.
  virtual void set_fed(std::size_t node, bool fed) = 0;
  virtual NodeTotals totals_of(std::size_t node) const = 0;
  /// The error that ended the run, if there was one: in real time a thread may not start.
  virtual std::optional<Error> failure() const { return std::nullopt; }
};

/// Starts a world, with one actor per stage and node. Any thread may call it. kUnavailable: this
/// machine cannot start so many threads or sockets.
using WorldMaker = std::function<Result<std::unique_ptr<ModelledWorld>>(const PipelineModel& model,
                                                                        std::uint64_t seed)>;

}  // namespace forebay::tuner
