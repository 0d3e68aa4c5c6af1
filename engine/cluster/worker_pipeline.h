#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <vector>

#include "engine/cluster/node_stages.h"
#include "engine/run/idle_buffers.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// A worker's stages as a tuned pipeline: like LivePipeline, without a trainer.
///
/// The split client takes the trainer's place: an item is a split handed over. While the node holds
/// much fewer splits than it has room for, the split client counts as busy; otherwise it counts as
/// waiting for this node. The prefetch is the number of finished splits that may wait. Belongs to
/// the tuner's thread.
class WorkerPipeline final : public tuner::TunedPipeline {
 public:
  struct Options {
    NodeStages& stages;
    tuner::Limits limits;
    std::uint64_t resident_before = 0;  ///< Bytes used before the stages were made.
    std::uint64_t rows_per_split = 1;
    std::uint32_t max_actors = 0;  ///< 0: twice the CPUs plus the number of stages.
    const Clock& clock;
  };

  explicit WorkerPipeline(Options options);

  const tuner::PipelineDescription& description() const override { return description_; }
  tuner::CurrentState current() const override;
  tuner::Observation observe() override;
  void apply(const tuner::Allocation& allocation) override;

 private:
  struct Sums {
    std::vector<StageStats> stages;
    std::chrono::nanoseconds at{0};
    std::uint64_t handed_over = 0;
    double cpu_seconds = 0;
  };
  /// Sums of the samples since the last observation.
  struct Samples {
    double count = 0;
    double idle = 0;  ///< Samples in which the node could have held more splits.
    std::array<double, kNumStages> fill{};
    std::uint64_t peak = 0;
  };

  Sums sums() const;
  std::uint64_t account() const;
  void look(const std::vector<StageStats>& stages) const;

  const Options options_;
  tuner::PipelineDescription description_;
  const std::chrono::nanoseconds began_;
  Sums before_;
  mutable Samples samples_;
  mutable IdleBuffers idle_buffers_;
};

}  // namespace forebay
