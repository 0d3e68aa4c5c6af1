#include "engine/cluster/worker_pipeline.h"

#include <algorithm>
#include <utility>

#include "core/base/seconds.h"
#include "engine/process/memory_use.h"
#include "engine/run/stage_observation.h"

namespace forebay {
namespace {

constexpr std::array kStages{Stage::kLoad, Stage::kDecode, Stage::kShuffle, Stage::kTransform};
constexpr std::uint32_t kMostActorsOfAStage = 128;
constexpr std::uint32_t kMostWaiting = 64;
constexpr std::uint32_t kUsualWaiting = 2;

tuner::PipelineDescription description_of(const WorkerPipeline::Options& options) {
  const MemorySizes& sizes = options.stages.sizes();
  tuner::PipelineDescription description;
  for (const StageStats& stage : options.stages.stats()) {
    description.stages.push_back({.name = stage.name,
                                  .max_actors = kMostActorsOfAStage,
                                  .bytes_per_actor = sizes.usual_split + kThreadBytes});
  }
  const auto usual = static_cast<std::uint32_t>(2 * options.limits.cpus + kNumStages);
  description.max_actors = options.max_actors > 0 ? options.max_actors : usual;
  description.default_prefetch = kUsualWaiting;
  description.max_prefetch = kMostWaiting;
  description.rows_per_split = options.rows_per_split;
  description.prefetch_item_bytes = sizes.usual_split;
  description.fixed_bytes = options.resident_before + kMemorySlack + kOtherActors * kThreadBytes +
                            kNumStages * sizes.usual_split + sizes.largest_split;
  return description;
}

}  // namespace

WorkerPipeline::WorkerPipeline(Options options)
    : options_(options),
      description_(description_of(options_)),
      began_(options_.clock.now()),
      before_(sums()) {}

WorkerPipeline::Sums WorkerPipeline::sums() const {
  return {.stages = options_.stages.stats(),
          .at = options_.clock.now(),
          .handed_over = options_.stages.splits_done(),
          .cpu_seconds = process_cpu_seconds()};
}

std::uint64_t WorkerPipeline::account() const {
  return options_.resident_before + kMemorySlack +
         (options_.stages.threads() + kOtherActors) * kThreadBytes + options_.stages.buffer_bytes();
}

void WorkerPipeline::look(const std::vector<StageStats>& stages) const {
  const auto slots = static_cast<double>(options_.stages.slots());
  ++samples_.count;
  if (2 * static_cast<double>(options_.stages.in_work()) < slots) ++samples_.idle;
  const auto usual = static_cast<double>(options_.stages.sizes().usual_split);
  for (std::size_t i = 0; i + 1 < kNumStages; ++i) {
    samples_.fill[i] += std::min(1.0, static_cast<double>(stages[i + 1].pool.queued_bytes) / usual);
  }
  samples_.peak = std::max(samples_.peak, account());
}

tuner::CurrentState WorkerPipeline::current() const {
  const std::vector<StageStats> stages = options_.stages.stats();
  look(stages);
  tuner::CurrentState now;
  now.limits = options_.limits;
  now.actors = options_.stages.actors();
  for (const StageStats& stage : stages) {
    now.leaving.push_back(static_cast<std::uint32_t>(stage.pool.retiring));
  }
  now.prefetch = options_.stages.waiting();
  now.memory_bytes = account();
  now.process_bytes = resident_bytes();
  now.resident_bytes = std::max(now.process_bytes, now.memory_bytes);
  idle_buffers_.look(options_.clock.now(), now, options_.stages.buffers());
  return now;
}

tuner::Observation WorkerPipeline::observe() {
  const tuner::CurrentState current_state = current();
  Sums now = sums();
  const double share_idle = samples_.count > 0 ? samples_.idle / samples_.count : 0;
  tuner::Observation seen;
  seen.at_seconds = in_seconds(now.at - began_);
  seen.seconds = in_seconds(now.at - before_.at);
  seen.limits = current_state.limits;
  double stages_cpu = 0;
  for (std::size_t i = 0; i < kNumStages; ++i) {
    seen.stages.push_back(observation_of(before_.stages[i].pool, now.stages[i].pool));
    tuner::StageObservation& stage = seen.stages.back();
    stage.actors = current_state.actors[i];
    stage.queue_fill = samples_.count > 0 ? samples_.fill[i] / samples_.count : 0;
    if (i + 1 < kNumStages) stage.queued_bytes = now.stages[i + 1].pool.queued_bytes;
    stages_cpu += stage.cpu_seconds;
  }
  seen.trainer_steps = now.handed_over - before_.handed_over;
  seen.trainer_step_seconds = seen.seconds * share_idle;
  seen.trainer_wait_seconds = seen.seconds - seen.trainer_step_seconds;
  seen.other_cpu_seconds = std::max(0.0, now.cpu_seconds - before_.cpu_seconds - stages_cpu);
  seen.prefetch = current_state.prefetch;
  seen.prefetch_fill = share_idle;  // The fill that a split client without requests would leave.
  seen.memory_bytes = current_state.memory_bytes;
  seen.memory_peak = std::max(samples_.peak, seen.memory_bytes);
  before_ = std::move(now);
  samples_ = {};
  return seen;
}

// Shrinks stages before it grows others. A thread that does not fit into memory is tried again at
// the next step.
void WorkerPipeline::apply(const tuner::Allocation& allocation) {
  const std::vector<std::uint32_t> current = options_.stages.actors();
  for (const bool growing : {false, true}) {
    for (std::size_t i = 0; i < kNumStages; ++i) {
      const std::uint32_t wanted = allocation.actors[i];
      if (wanted == current[i] || (wanted > current[i]) != growing) continue;
      static_cast<void>(options_.stages.resize(kStages[i], wanted));
    }
  }
  options_.stages.set_waiting(allocation.prefetch);
}

}  // namespace forebay
