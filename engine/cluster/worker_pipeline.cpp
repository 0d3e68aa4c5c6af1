#include "engine/cluster/worker_pipeline.h"

#include "engine/process/memory_use.h"

namespace forebay {
namespace {

constexpr std::uint32_t kMostWaiting = 64;
constexpr std::uint32_t kUsualWaiting = 2;

tuner::PipelineDescription description_of(const WorkerPipeline::Options& options) {
  const MemorySizes& sizes = options.stages.sizes();
  tuner::PipelineDescription description =
      describe_stages(options.job, options.limits.cpus, sizes, options.resident_before);
  description.default_prefetch = kUsualWaiting;
  description.max_prefetch = kMostWaiting;
  description.rows_per_split = options.rows_per_split;
  description.prefetch_item_bytes = sizes.usual_split;
  description.fixed_bytes += options.job.stages.size() * sizes.usual_split + sizes.largest_split;
  return description;
}

}  // namespace

WorkerPipeline::WorkerPipeline(const Options& options)
    : TunedStages({.stages = options.stages.stages(),
                   .buffers = options.stages.buffers(),
                   .clock = options.clock,
                   .description = description_of(options),
                   .resident_before = options.resident_before}),
      stages_(options.stages),
      limits_(options.limits),
      handed_over_(stages_.splits_done()) {}

PipelineStats WorkerPipeline::stats() const {
  PipelineStats stats;
  stats.stages = stages_.stats();
  return stats;
}

std::uint64_t WorkerPipeline::process_bytes() const { return resident_bytes(); }

// The fill that a split client without requests would leave.
double WorkerPipeline::prefetch_fill(const PipelineStats&) const {
  return 2 * stages_.in_work() < stages_.slots() ? 1 : 0;
}

void WorkerPipeline::observe_consumer(const PipelineStats&, tuner::Observation& seen) {
  const std::uint64_t handed_over = stages_.splits_done();
  seen.trainer_steps = handed_over - handed_over_;
  seen.trainer_step_seconds = seen.seconds * seen.prefetch_fill;
  seen.trainer_wait_seconds = seen.seconds - seen.trainer_step_seconds;
  handed_over_ = handed_over;
}

}  // namespace forebay
