#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "core/runtime/synchronized.h"
#include "engine/emulated/emulated_node.h"
#include "engine/emulated/modelled_trainer.h"
#include "engine/emulated/world_trainer.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/simulator.h"
#include "tuner/tuned_pipeline.h"
#include "tuner/world/modelled_world.h"

namespace forebay {

/// A world of several nodes on the real runtime, in real time and in one process: the real head,
/// split client and workers with the wire between them, and the actors of every node's stages; only
/// the work, the links and the trainer are modelled.
///
/// Starts at once, with one actor per stage and node or the first allocation. Nodes are lost and
/// come back as the model's events say. A node may have so many actors that kMostThreads suffice.
/// observe_node() and apply_to() of a node belong to that node's tuner's thread, run_until(),
/// observe() and apply() to the owner's; the other methods to any thread.
class WorldMachine final : public tuner::ModelledWorld {
 public:
  static constexpr std::size_t kMostThreads = 256;

  /// Threads that a world needs beside the actors of its stages.
  static std::size_t threads_beside(std::size_t nodes);

  /// `model` has named nodes. `clock` must be the machine's monotonic clock.
  static Result<std::unique_ptr<WorldMachine>> make(
      const tuner::PipelineModel& model, std::uint64_t seed, const Clock& clock,
      const std::optional<tuner::Allocation>& first = {});
  ~WorldMachine() override;
  WorldMachine(const WorldMachine&) = delete;
  WorldMachine& operator=(const WorldMachine&) = delete;

  /// Sleeps until `seconds` since the start have passed, and loses nodes and brings them back in
  /// time; returns earlier if the machine runs out of memory.
  void run_until(double seconds) override;

  const tuner::PipelineDescription& description() const override { return description_; }
  tuner::CurrentState current() const override;
  tuner::Observation observe() override;
  void apply(const tuner::Allocation& allocation) override;
  tuner::SimTotals totals() const override;

  std::size_t nodes() const override { return parts_.size(); }
  double now() const override { return machine_.now(); }
  double paused_seconds() const override;
  bool present(std::size_t node) const override;
  tuner::PipelineDescription description_of(std::size_t node) const override;
  tuner::CurrentState current_of(std::size_t node) const override;
  tuner::Observation observe_node(std::size_t node) override;
  void apply_to(std::size_t node, const tuner::Allocation& allocation) override;
  void set_fed(std::size_t node, bool fed) override;
  tuner::NodeTotals totals_of(std::size_t node) const override;
  /// The error if the system could not start a thread, or the head lost its job.
  std::optional<Error> failure() const override;

  ModelledTrainer::Totals trained() const { return trainer_.totals(); }
  bool out_of_memory() const;
  /// How late threads wake on this machine; if they wake late, the figures mean little.
  tuner::Lateness lateness() const { return machine_.lateness(); }

 private:
  /// A node, there or not, and what is kept of it while it is not.
  struct Part {
    std::unique_ptr<EmulatedNode> node = {};  // null: lost
    tuner::Allocation wanted = {};
    bool fed = true;
    std::uint64_t memory_peak = 0;
    bool out_of_memory = false;
    double observed_at = 0;
    double full_before = 0;
    ModelledTrainer::Totals trained_before = {};
  };

  WorldMachine(const tuner::PipelineModel& model, std::uint64_t seed, const Clock& clock);

  void want(const tuner::Allocation& first);
  ModelledTrainer::Options trainer_options();
  Status start();
  Status bring_back(std::size_t node);
  void lose(std::size_t node);
  void follow_events();
  double next_event() const;
  void count_slots();
  tuner::Observation observe_lost(std::size_t node) const;
  void add_consumer(std::size_t node, tuner::Observation& seen);

  const tuner::PipelineModel model_;
  const tuner::PipelineDescription description_;
  const Clock& clock_;
  const std::size_t own_;
  mutable tuner::MachineThread machine_;
  std::unique_ptr<WorldTrainer> head_;     // null until start()
  std::atomic<EmulatedNode*> own_node_{};  // the trainer's
  ModelledTrainer trainer_;
  std::optional<EmulatedWorld> world_;
  std::vector<Synchronized<>> locks_;  // by node; guards its part
  std::vector<Part> parts_;
  std::atomic<std::uint64_t> slots_{0};  // of all nodes
  std::optional<Error> failure_;         // owner's thread
};

}  // namespace forebay
