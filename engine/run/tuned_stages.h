#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "actors/pipeline.h"
#include "actors/transform/transform.h"
#include "core/data/buffer_pool.h"
#include "engine/job/job_spec.h"
#include "tuner/tuned_pipeline.h"

namespace forebay {

/// Returns what a pool did between two samples: everything except the requested actors and the
/// queue.
tuner::StageObservation observation_of(const PoolStats& before, const PoolStats& now);

/// Returns how full the queue after a stage is, 0 to 1: the next pool's mailbox; after the last of
/// `stages` stages, the share of the window that waits for the reorder buffer, or 0 without one.
double fill_behind(const PipelineStats& stats, std::size_t stage, std::size_t stages);

/// Says that the machine grants other limits than before; "" if they are the same.
std::string changed_limits(const tuner::Limits& before, const tuner::Limits& now);

/// Fills in what one node of several made for a split client that takes splits from all of them:
/// its consumer. `made`: what its stages finished in the interval. `client_busy`: the share of the
/// interval in which the client left the node without enough splits, so that the client, not the
/// node, was the limit. It is never taken to be 0, since the rate of a consumer without limit is
/// unknown, but the node's own rate is not.
void observe_client(tuner::Observation& seen, std::uint64_t made, double client_busy);

/// The running stages of a node as a tuned pipeline. A trainer's pipeline and a worker's stages
/// differ in what takes their splits, in the meaning of prefetch and in what follows the memory.
///
/// If its description has stages that may have no actors, the tuner moves the cuts between groups;
/// else it sees a group of stages as one.
///
/// Accounted memory is what the process used before the stages, the slack for growth beside it, the
/// actors' threads and what their child processes may take, and every buffer, including idle ones.
/// Belongs to the tuner's thread; what the options refer to must outlive it.
class TunedStages : public tuner::TunedPipeline {
 public:
  const tuner::PipelineDescription& description() const final { return options_.description; }
  void tick() final;
  tuner::CurrentState current() const final;
  tuner::Observation observe() final;
  /// A change that does not fit into memory is tried again at the next step.
  void apply(const tuner::Allocation& allocation) final;

 protected:
  struct Options {
    StagePools& stages;
    BufferPool& buffers;
    const Clock& clock;
    tuner::PipelineDescription description;
    std::uint64_t resident_before = 0;  ///< Bytes used before the stages were made.
  };

  explicit TunedStages(Options options);

  const Options& options() const { return options_; }
  std::chrono::nanoseconds began() const { return began_; }

 private:
  /// The stages and the queues around them; behind the stages may follow the batch stage.
  virtual PipelineStats stats() const = 0;
  virtual tuner::Limits current_limits() const = 0;
  virtual std::uint64_t process_bytes() const = 0;

  /// The limit of finished items that may wait.
  virtual std::uint32_t prefetch() const = 0;
  virtual void set_prefetch(std::uint32_t items) = 0;
  /// Returns which share of that limit is filled.
  virtual double prefetch_fill(const PipelineStats& stats) const = 0;

  /// Takes a sample of whatever observe_consumer() needs beside the sums. Called once a tick.
  virtual void sample(const PipelineStats&) {}

  /// Fills in what the consumer did since the last call. `seen` has the times, stages and mean
  /// fills of the interval.
  virtual void observe_consumer(const PipelineStats& stats, tuner::Observation& seen) = 0;

  /// Gives way to memory that the process uses beyond `accounted`. Called once a tick.
  virtual void follow_memory(std::uint64_t, std::uint64_t) {}
  /// Returns the bytes beyond `accounted` that count against the limit.
  virtual std::uint64_t beyond(std::uint64_t process, std::uint64_t accounted) const {
    return process > accounted ? process - accounted : 0;
  }

  /// Sums at the time of the last observation.
  struct Sums {
    std::vector<StageStats> stages;
    std::chrono::nanoseconds at{0};
    double cpu_seconds = 0;
  };
  /// Sums of the samples since then.
  struct Samples {
    double count = 0;
    std::vector<double> fill;
    double prefetch_fill = 0;
    std::uint64_t memory_peak = 0;

    double mean(double sum) const { return count > 0 ? sum / count : 0; }
  };

  /// The first stage of each that the description has.
  std::vector<std::size_t> tuned_stages(const StageGroups& groups) const;
  Sums sums(std::vector<StageStats> stages) const;
  std::uint64_t account() const;
  void return_idle_buffers();

  const Options options_;
  const bool moves_cuts_;
  const std::chrono::nanoseconds began_;
  Sums before_;
  Samples samples_;
  std::chrono::nanoseconds buffers_returned_{0};  // time of the last return
};

/// Marks the stages whose actors call users' functions in this process.
void mark_user_code(tuner::PipelineDescription& description, const TransformPlan& plan);

/// Describes the stages of a job, with a group as one stage, and the memory that the process uses
/// beside splits and batches; leaves out the prefetch, and the memory of queues. All stages have at
/// most `pipeline.max_actors` actors together; without the key two for each CPU and one for each
/// stage, or as many as at the start, if those are more.
tuner::PipelineDescription describe_stages(const JobSpec& job, double cpus,
                                           const MemorySizes& sizes, std::uint64_t resident_before,
                                           const StageGroups& groups);

}  // namespace forebay
