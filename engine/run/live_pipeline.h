#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include "engine/job/job_spec.h"
#include "engine/process/cpu_limit.h"
#include "engine/run/idle_buffers.h"
#include "engine/run/job_run.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// A running job as what a tuner watches and turns.
///
/// The stages are the pipeline's four pools, an item of prefetch is a batch. By its account memory
/// in use is what the process had taken before the pipeline, the slack kept for what grows beside
/// it, the actors' threads and every buffer, idle ones too; what the kernel counts beyond that is
/// taken from the pipeline's room. A cgroup that allows less than the job bounds it too.
/// current(), observe() and apply() belong to the tuner's thread, limits may be set from any. The
/// run must outlive it, its pipeline too.
class LivePipeline final : public tuner::TunedPipeline {
 public:
  LivePipeline(JobRun& run, const JobSpec& job, const CpuLimit& cpus);
  ~LivePipeline() override;

  const tuner::PipelineDescription& description() const override { return description_; }
  /// Also looks how full the queues are, for the next observation.
  tuner::CurrentState current() const override;
  tuner::Observation observe() override;
  void apply(const tuner::Allocation& allocation) override;

  tuner::Limits limits() const;
  /// `pipeline.memory` as it is now, whatever a cgroup allows.
  std::uint64_t memory() const { return memory_; }
  /// Gives the process so many CPUs, or all it may use.
  Status set_cpus(int cpus);
  /// Acts at once: prefetch and window give way. kInvalid, with nothing changed, when the job
  /// cannot run in so little.
  Status set_memory(std::uint64_t bytes);
  /// The consumer keeps so many bytes of batches beside the one in hand: the pipeline gives way to
  /// them. False, with nothing changed, where the least that the job can run in is not left.
  bool set_held(std::uint64_t bytes);

 private:
  class Sampler;
  struct Before;

  std::uint64_t account(const PipelineStats& stats) const;
  std::uint64_t beyond(std::uint64_t resident, std::uint64_t accounted) const;
  void settle_room() const;
  double splits_per_batch(const PipelineStats& stats) const;

  JobRun& run_;
  const CpuLimit& cpu_limit_;
  tuner::PipelineDescription description_;
  std::atomic<int> cpus_;
  std::atomic<std::uint64_t> memory_;
  const std::uint64_t cgroup_memory_;  // at the start
  std::atomic<std::uint64_t> held_{0};
  mutable std::atomic<std::uint64_t> beyond_{0};
  mutable IdleBuffers idle_buffers_;
  std::uint32_t prefetch_;  // asked for
  const std::chrono::nanoseconds began_;
  const std::unique_ptr<Sampler> sampler_;
  const std::unique_ptr<Before> before_;
};

/// What is declared about a job's pipeline: all that a tuner knows before it has seen it run.
tuner::PipelineDescription description_of(const JobRun& run, const JobSpec& job);

}  // namespace forebay
