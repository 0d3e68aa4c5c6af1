#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "engine/cluster/head_location.h"
#include "engine/emulated/modelled_trainer.h"
#include "engine/emulated/node_outlet.h"
#include "scheduler/protocol.h"
#include "scheduler/worker/split_executor.h"
#include "scheduler/worker/worker_actor.h"
#include "tuner/allocation.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/pipeline_observer.h"

namespace forebay {

/// What all emulated nodes of a world share, and how the trainer's own node finds the head.
struct EmulatedWorld {
  const tuner::PipelineModel& model;
  tuner::MachineThread& machine;
  ModelledTrainer& trainer;
  const Clock& clock;
  std::string head;              ///< The address that workers join, as "H:P".
  NetworkEndpoint& trainer_net;  ///< The endpoint of the trainer's own node.
  scheduler::HeadRef head_actor;
  scheduler::SplitClientRef split_client;
  /// When a split could first be made, in seconds since the start.
  std::function<double(std::uint64_t number)> issued_at;
  /// Takes a split of the trainer's own node, which crosses no network.
  std::function<void(const MadeSplit&)> on_own_split;
};

/// A node of a world that is there: the actors of its stages, the real worker actor, and for all
/// but the trainer's own node a network endpoint on loopback.
///
/// A lost node is destroyed without a word to the head, as a process that is killed; a node that is
/// back is a new one. Any thread; the trainer's network must end
/// before the trainer's own node is destroyed, since that node's worker actor lives there.
class EmulatedNode final : scheduler::SplitExecutor,
                           scheduler::HeadFinder,
                           scheduler::SplitClientFinder {
 public:
  /// Has the actors of `first` before its first split begins. kUnavailable: the system has no
  /// thread or socket left. `world` outlives the node.
  static Result<std::unique_ptr<EmulatedNode>> make(const EmulatedWorld& world, std::size_t index,
                                                    const tuner::Allocation& first);
  ~EmulatedNode() override;
  EmulatedNode(const EmulatedNode&) = delete;
  EmulatedNode& operator=(const EmulatedNode&) = delete;

  /// Ends its work and the threads of its stages.
  void stop();

  void apply(const tuner::Allocation& allocation);
  /// Whether it asks for splits; a node that is not fed finishes what it holds.
  void set_fed(bool fed) { fed_ = fed; }
  tuner::PipelineObserver& observer() { return observer_; }
  const tuner::PipelineObserver& observer() const { return observer_; }
  double full_seconds() const { return outlet_->full_seconds(); }
  std::optional<Error> failure() const { return pipeline_.failure(); }

  /// Splits that it holds at most: in work, in queues, on its link, and leased ahead; 0 if it is
  /// not fed.
  std::uint32_t slots() const override;

 private:
  EmulatedNode(const EmulatedWorld& world, std::size_t index);

  Status start_worker();
  void made(const MadeSplit& made);
  bool is_trainers() const { return node_.trainer; }

  void open(const scheduler::JobShare& job, std::uint64_t opening) override;
  void begin(std::uint64_t split) override;
  bool forget(std::uint64_t) override { return false; }
  bool begun(std::uint64_t) const override { return true; }
  Load load() override { return {}; }
  scheduler::HeadRef head() override;
  scheduler::SplitClientRef split_client(const std::string& address) override;

  const EmulatedWorld& world_;
  const std::size_t index_;
  const tuner::NodeModel node_;
  const tuner::PipelineModel model_;  // with the node's limits
  scheduler::WorkerActor::Ref worker_;
  std::atomic<std::uint64_t> opening_{0};
  std::atomic<bool> fed_{true};
  std::shared_ptr<NodeOutlet> outlet_;
  tuner::PipelineObserver observer_;
  tuner::EmulatedPipeline pipeline_;
  std::unique_ptr<NetworkEndpoint> net_;  // destroyed first; null: the trainer's own node
};

}  // namespace forebay
