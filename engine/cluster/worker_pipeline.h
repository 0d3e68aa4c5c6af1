#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/clock.h"
#include "engine/cluster/node_capacity.h"
#include "engine/cluster/node_stages.h"
#include "engine/job/job_spec.h"
#include "engine/process/machine_watch.h"
#include "engine/run/tuned_stages.h"

namespace forebay {

/// A worker's stages as a tuned pipeline.
///
/// The split client takes the trainer's place: an item is a split handed over. While the node holds
/// much fewer splits than it has room for, the split client counts as busy; otherwise it counts as
/// waiting for this node. The prefetch is the number of finished splits that may wait.
class WorkerPipeline final : public TunedStages {
 public:
  struct Options {
    NodeStages& stages;
    const JobSpec& job;
    tuner::Limits limits;
    std::uint64_t resident_before = 0;  ///< Bytes used before the stages were made.
    std::uint64_t rows_per_split = 1;
    const Clock& clock;
    /// Told, on the tuner's thread, that others have changed what this process may use.
    std::function<void(const std::string&)> say = {};
    MachineWatch::Read read = machine_limits;
  };

  explicit WorkerPipeline(const Options& options);

 private:
  PipelineStats stats() const override;
  tuner::Limits current_limits() const override;
  std::uint64_t process_bytes() const override;
  std::uint32_t prefetch() const override { return stages_.waiting(); }
  void set_prefetch(std::uint32_t splits) override { stages_.set_waiting(splits); }
  double prefetch_fill(const PipelineStats& stats) const override;
  void sample(const PipelineStats& stats) override;
  void observe_consumer(const PipelineStats& stats, tuner::Observation& seen) override;

  NodeStages& stages_;
  const tuner::Limits limits_;  // as the worker was started
  MachineWatch machine_;
  const std::function<void(const std::string&)> say_;
  NodeCapacity capacity_;
  std::uint64_t handed_over_;  // at the last observation
  std::uint64_t splits_;       // the same in splits
};

}  // namespace forebay
