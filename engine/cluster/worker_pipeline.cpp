#include "engine/cluster/worker_pipeline.h"

#include <algorithm>

#include "engine/process/memory_use.h"
#include "tuner/tuner.h"

namespace forebay {
namespace {

constexpr std::uint32_t kMostWaiting = 64;
constexpr std::uint32_t kUsualWaiting = 2;

tuner::PipelineDescription description_of(const WorkerPipeline::Options& options) {
  const MemorySizes& sizes = options.stages.sizes();
  const StageGroups& groups = options.stages.stages().groups();
  tuner::PipelineDescription description =
      describe_stages(options.job, options.limits.cpus, sizes, options.resident_before, groups);
  description.default_prefetch = kUsualWaiting;
  description.max_prefetch = kMostWaiting;
  description.rows_per_split = options.rows_per_split;
  description.prefetch_item_bytes = sizes.usual_split;
  description.fixed_bytes +=
      options.job.stages.size() * sizes.usual_split + options.stages.held_split_bytes();
  mark_user_code(description, options.stages.plan());
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
      machine_(options.read),
      say_(options.say),
      capacity_(description(), tuner::mode_named(options.job.tuner.mode) == tuner::Mode::kOn &&
                                   options.job.tuner.policy != "fixed"),
      handed_over_(stages_.parts_done()),
      splits_(stages_.splits_done()) {}

PipelineStats WorkerPipeline::stats() const {
  PipelineStats stats;
  stats.stages = stages_.stats();
  return stats;
}

tuner::Limits WorkerPipeline::current_limits() const {
  return {.cpus = std::min(limits_.cpus, static_cast<double>(machine_.cpus())),
          .memory_bytes = std::min(limits_.memory_bytes, machine_.memory_bytes())};
}

void WorkerPipeline::sample(const PipelineStats&) {
  const tuner::Limits before = current_limits();
  if (!machine_.look()) return;
  const std::string changed = changed_limits(before, current_limits());
  if (!changed.empty() && say_) say_(changed);
}

std::uint64_t WorkerPipeline::process_bytes() const {
  return resident_bytes() + stages_.child_bytes();
}

// The fill that a split client without requests would leave.
double WorkerPipeline::prefetch_fill(const PipelineStats&) const {
  return 2 * stages_.in_work() < stages_.slots() ? 1 : 0;
}

void WorkerPipeline::observe_consumer(const PipelineStats&, tuner::Observation& seen) {
  const std::uint64_t handed_over = stages_.parts_done();
  observe_client(seen, handed_over - handed_over_, seen.prefetch_fill);
  handed_over_ = handed_over;
  const std::uint64_t splits = stages_.splits_done();
  capacity_.observe(
      {.seen = seen, .splits = static_cast<double>(splits - splits_), .busy = stages_.busy()});
  splits_ = splits;
  stages_.set_could_make(capacity_.splits_per_second());
}

}  // namespace forebay
