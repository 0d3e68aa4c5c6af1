#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "core/runtime/synchronized.h"
#include "engine/job/job_spec.h"
#include "engine/process/machine.h"
#include "engine/process/machine_watch.h"
#include "engine/run/job_run.h"
#include "engine/run/tuned_stages.h"

namespace forebay {

/// Returns what a tuner knows of a job before its pipeline, which has started, has run; a group is
/// one stage to it.
tuner::PipelineDescription description_of(const JobRun& run, const JobSpec& job,
                                          const StageGroups& groups);

/// Whether the job or the tuner decides where the cuts between fused stages lie.
enum class Cuts : std::uint8_t {
  kOfJob,    ///< The job: the tuner sees a group as one stage.
  kOfTuner,  ///< The tuner: it may join the stages that are joined at the start, and no others.
};

/// A running job as a tuned pipeline.
///
/// An item of prefetch is a batch. While other nodes make splits of the job, too, the observed rate
/// and consumer are those of this node's stages, not of the whole cluster. Memory that the kernel
/// counts beyond the account is subtracted from the pipeline's room. An affinity or a
/// cgroup's limit lower than the job's applies, too; both are read again once a second. Limits may
/// be set on any thread. The run and its pipeline must outlive it.
class LivePipeline final : public TunedStages {
 public:
  LivePipeline(JobRun& run, const JobSpec& job, const CpuLimit& cpus,
               MachineWatch::Read read = machine_limits, Cuts cuts = Cuts::kOfJob);

  /// Sets the function that reports, on the tuner's thread, that others have changed the limits of
  /// this process. Call it before the first tick().
  void report_to(std::function<void(const std::string&)> say) { say_ = std::move(say); }

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
  /// The consumer's sums at the time of the last observation.
  struct Consumed {
    std::chrono::nanoseconds paused{0};
    std::chrono::nanoseconds waited{0};
    std::chrono::nanoseconds worked{0};
    std::uint64_t steps = 0;
    std::uint64_t prefetch_full = 0;
    std::uint64_t prefetch_empty = 0;
    std::uint64_t made = 0;     ///< By the stages here, in the messages that leave them.
    std::uint64_t batched = 0;  ///< The same of all nodes, as far as it has become batches.
  };
  /// Samples since the last observation of whether the stages here have too few splits.
  struct ShortOfSplits {
    double samples = 0;
    double yes = 0;
  };

  PipelineStats stats() const override { return run_.pipeline().stats(); }
  tuner::Limits current_limits() const override { return limits(); }
  std::uint64_t process_bytes() const override { return run_.used_bytes(); }
  std::uint32_t prefetch() const override { return prefetch_; }
  void set_prefetch(std::uint32_t batches) override;
  double prefetch_fill(const PipelineStats& stats) const override;
  void sample(const PipelineStats& stats) override;
  void observe_consumer(const PipelineStats& stats, tuner::Observation& seen) override;
  void follow_memory(std::uint64_t process, std::uint64_t accounted) override;
  std::uint64_t beyond(std::uint64_t, std::uint64_t) const override { return beyond_; }

  void settle_room();
  void look_at_machine();
  double splits_per_batch(const PipelineStats& stats) const;

  JobRun& run_;
  const CpuLimit& cpu_limit_;
  std::atomic<int> cpus_;
  std::atomic<std::uint64_t> memory_;
  MachineWatch machine_;
  std::function<void(const std::string&)> say_;
  const Synchronized<> room_{};  // the room is computed and set by one thread at a time
  std::atomic<std::uint64_t> held_{0};
  std::atomic<std::uint64_t> beyond_{0};
  std::uint32_t prefetch_;  // as requested
  Consumed before_;
  ShortOfSplits short_;
};

}  // namespace forebay
