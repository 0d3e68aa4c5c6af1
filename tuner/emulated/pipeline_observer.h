#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/runtime/stage_pool.h"
#include "core/runtime/synchronized.h"
#include "tuner/emulated/emulated_pipeline.h"
#include "tuner/emulated/machine_thread.h"
#include "tuner/sim/pipeline_model.h"
#include "tuner/tuned_pipeline.h"

namespace forebay::tuner {

/// What the actors of an emulated pipeline, of one node of several or of the only one, measure, and
/// the memory that they take.
///
/// Does not own the machine and the pipeline. observe() belongs to the tuner's thread, the other
/// methods to any thread.
class PipelineObserver {
 public:
  /// `model` has the limits of its node; `pipeline` may still be under construction until the first
  /// other call. Observes from now on.
  PipelineObserver(const PipelineModel& model, MachineThread& machine, EmulatedPipeline& pipeline,
                   std::size_t node = 0);

  /// Records the current contents of the pools in the accounting. Freezes the machine where memory
  /// runs out.
  void look();
  CurrentState current();
  /// Observes the stages, limits and memory since the last call; the trainer's part is left out.
  Observation observe();
  /// Records that the trainer asked and the prefetch was empty.
  void note_empty() {
    serial_([this] { accounting_.note_empty(); });
  }
  bool out_of_memory() const { return out_of_memory_; }
  std::uint64_t memory_peak() const {
    return serial_([this] { return accounting_.memory_peak(); });
  }

 private:
  void look_locked();
  StageObservation observe_stage(std::size_t stage, double cpu_seconds);

  const PipelineModel model_;
  MachineThread& machine_;
  EmulatedPipeline& pipeline_;
  const std::size_t node_;
  Synchronized<> serial_;
  PipelineAccounting accounting_;  // under the lock
  std::atomic<bool> out_of_memory_{false};
  std::vector<ActorTotals> totals_before_;  // tuner's thread only, as below
  std::vector<double> cpu_before_;
};

}  // namespace forebay::tuner
