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

/// A running job as a tuned pipeline.
///
/// The stages are the pipeline's four pools; an item of prefetch is a batch. Accounted memory is
/// what the process used before the pipeline, the slack for growth beside it, the actors' threads
/// and every buffer, including idle ones. Memory that the kernel counts beyond that is subtracted
/// from the pipeline's room. A cgroup limit lower than the job's applies, too. current(), observe()
/// and apply() belong to the tuner's thread; limits may be set on any. The run and its pipeline
/// must outlive it.
class LivePipeline final : public tuner::TunedPipeline {
 public:
  LivePipeline(JobRun& run, const JobSpec& job, const CpuLimit& cpus);
  ~LivePipeline() override;

  const tuner::PipelineDescription& description() const override { return description_; }
  /// Also samples the fill of the queues for the next observation.
  tuner::CurrentState current() const override;
  tuner::Observation observe() override;
  void apply(const tuner::Allocation& allocation) override;

  tuner::Limits limits() const;
  /// Returns the current `pipeline.memory`, regardless of a cgroup limit.
  std::uint64_t memory() const { return memory_; }
  /// Limits the process to `cpus` CPUs, or to all it may use if there are fewer.
  Status set_cpus(int cpus);
  /// Takes effect at once: prefetch and window shrink. kInvalid: the job cannot run with so little
  /// memory; nothing is changed.
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
  std::uint32_t prefetch_;  // as requested
  const std::chrono::nanoseconds began_;
  const std::unique_ptr<Sampler> sampler_;
  const std::unique_ptr<Before> before_;
};

/// Returns the static description of a job's pipeline: what a tuner knows before the pipeline has
/// run.
tuner::PipelineDescription description_of(const JobRun& run, const JobSpec& job);

}  // namespace forebay
