#include "engine/run/live_pipeline.h"

#include <algorithm>
#include <array>

#include "core/base/seconds.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"
#include "engine/run/stage_observation.h"

namespace forebay {
namespace {

constexpr std::array kStages{Stage::kLoad, Stage::kDecode, Stage::kShuffle, Stage::kTransform};
constexpr std::uint32_t kMostActorsOfAStage = 128;
constexpr std::uint64_t kFewestItemsAtMost = 64;
/// The kernel's figure fluctuates; the excess over the account is rounded to steps of this size.
constexpr std::uint64_t kBeyondStep = std::uint64_t{8} << 20;
/// What a consumer keeps is known exactly.
constexpr std::uint64_t kHeldStep = std::uint64_t{1} << 20;

std::uint32_t items(std::uint64_t bytes, std::uint64_t each) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / each, 1, 1 << 20));
}

std::array<int, kNumStages> counts(const Allocation& allocation) {
  return {allocation.load, allocation.decode, allocation.shuffle, allocation.transform};
}

}  // namespace

/// Samples of the queues' fill since the last observation.
class LivePipeline::Sampler {
 public:
  void add(const PipelineStats& stats) {
    for (std::size_t i = 0; i < kNumStages; ++i) fill_[i] += fill_behind(stats, i);
    prefetch_ += stats.prefetch_budget == 0
                     ? 0
                     : std::min(1.0, static_cast<double>(stats.prefetch_bytes) /
                                         static_cast<double>(stats.prefetch_budget));
    ++looks_;
  }
  double fill(std::size_t stage) const { return looks_ == 0 ? 0 : fill_[stage] / looks_; }
  double prefetch() const { return looks_ == 0 ? 0 : prefetch_ / looks_; }
  void note_memory(std::uint64_t bytes) { peak_ = std::max(peak_, bytes); }
  std::uint64_t peak() const { return peak_; }

 private:
  std::array<double, kNumStages> fill_{};
  double prefetch_ = 0;
  double looks_ = 0;
  std::uint64_t peak_ = 0;
};

/// Sums at the time of the last observation.
struct LivePipeline::Before {
  PipelineStats stats;
  std::chrono::nanoseconds at{0};
  std::chrono::nanoseconds paused{0};
  std::chrono::nanoseconds waited{0};
  std::chrono::nanoseconds worked{0};
  std::uint64_t steps = 0;
  double cpu_seconds = 0;
};

tuner::PipelineDescription description_of(const JobRun& run, const JobSpec& job) {
  const MemorySizes& sizes = run.pipeline().sizes();
  const auto least = static_cast<std::uint64_t>(kNumStages);
  tuner::PipelineDescription description;
  for (const char* name : {"load", "decode", "shuffle", "transform"}) {
    description.stages.push_back({.name = name,
                                  .max_actors = kMostActorsOfAStage,
                                  .bytes_per_actor = sizes.usual_split + kThreadBytes});
  }
  const auto asked = static_cast<std::uint32_t>(job.pipeline.allocation.total());
  const auto usual =
      static_cast<std::uint32_t>(2 * job.pipeline.cpus) + static_cast<std::uint32_t>(kNumStages);
  description.max_actors =
      job.max_actors > 0 ? static_cast<std::uint32_t>(job.max_actors) : std::max(usual, asked);
  description.default_prefetch = items(run.memory_plan().prefetch, sizes.batch);
  description.max_prefetch = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(kFewestItemsAtMost, description.default_prefetch));
  description.prefetch_item_bytes = sizes.batch;
  description.fixed_bytes = run.resident_before() + kMemorySlack + kOtherActors * kThreadBytes +
                            window_for(least, sizes) - least * sizes.usual_split + sizes.cutting +
                            sizes.batch;
  description.rows_per_split = std::max<std::uint64_t>(
      1, run.dataset().rows() / std::max<std::uint64_t>(1, run.pipeline().splits_per_epoch()));
  return description;
}

LivePipeline::LivePipeline(JobRun& run, const JobSpec& job, const CpuLimit& cpus)
    : run_(run),
      cpu_limit_(cpus),
      description_(description_of(run, job)),
      cpus_(job.pipeline.cpus),
      memory_(job.pipeline.memory_bytes),
      cgroup_memory_(cgroup_memory()),
      prefetch_(description_.default_prefetch),
      began_(run.clock().now()),
      sampler_(std::make_unique<Sampler>()),
      before_(std::make_unique<Before>()) {
  before_->stats = run_.pipeline().stats();
  before_->at = began_;
  before_->cpu_seconds = process_cpu_seconds();
}

LivePipeline::~LivePipeline() = default;

tuner::Limits LivePipeline::limits() const {
  return {.cpus = static_cast<double>(std::min(cpus_.load(), cpu_limit_.most())),
          .memory_bytes = std::min(memory_.load(), cgroup_memory_)};
}

std::uint64_t LivePipeline::account(const PipelineStats& stats) const {
  std::uint64_t threads = kOtherActors;
  for (std::size_t i = 0; i < kNumStages; ++i) threads += stats.stages[i].pool.actors;
  return run_.resident_before() + kMemorySlack + threads * kThreadBytes + run_.buffer_bytes();
}

// Grows at once, shrinks only by a whole step, so that small fluctuations do not move the room.
std::uint64_t LivePipeline::beyond(std::uint64_t resident, std::uint64_t accounted) const {
  const std::uint64_t now = resident > accounted ? resident - accounted : 0;
  const std::uint64_t steps = (now + kBeyondStep - 1) / kBeyondStep * kBeyondStep;
  const std::uint64_t before = beyond_;
  if (steps > before || now + kBeyondStep < before) {
    beyond_ = steps;
    settle_room();
  }
  return beyond_;
}

void LivePipeline::settle_room() const {
  const std::uint64_t taken = run_.resident_before() + kMemorySlack + beyond_ + held_;
  const std::uint64_t limit = limits().memory_bytes;
  run_.pipeline().set_room(limit > taken ? limit - taken : 0);
}

tuner::CurrentState LivePipeline::current() const {
  const PipelineStats stats = run_.pipeline().stats();
  sampler_->add(stats);
  tuner::CurrentState now;
  now.limits = limits();
  const auto wanted = counts(run_.pipeline().allocation());
  for (std::size_t i = 0; i < kNumStages; ++i) {
    now.actors.push_back(static_cast<std::uint32_t>(wanted[i]));
    now.leaving.push_back(static_cast<std::uint32_t>(stats.stages[i].pool.retiring));
  }
  now.prefetch = prefetch_;
  const std::uint64_t item = description_.prefetch_item_bytes;
  now.prefetched = static_cast<std::uint32_t>((stats.prefetch_bytes + item - 1) / item);
  now.memory_bytes = account(stats);
  now.process_bytes = run_.used_bytes();
  now.resident_bytes = now.memory_bytes + beyond(now.process_bytes, now.memory_bytes);
  idle_buffers_.look(run_.clock().now(), now, run_.buffers());
  sampler_->note_memory(now.memory_bytes);
  return now;
}

// Uses the measured ratio, since rows may be filtered or sampled; before enough batches were
// measured, the job's numbers.
double LivePipeline::splits_per_batch(const PipelineStats& stats) const {
  constexpr std::uint64_t kEnough = 16;
  const std::uint64_t batches = run_.source().batches() + stats.prefetch_batches;
  if (batches >= kEnough) {
    const std::uint64_t splits = stats.stages.back().pool.totals.messages;
    return static_cast<double>(splits) / static_cast<double>(batches);
  }
  const std::uint64_t rows = std::min(run_.rows_per_batch(), run_.dataset().rows());
  return static_cast<double>(rows) / static_cast<double>(description_.rows_per_split);
}

tuner::Observation LivePipeline::observe() {
  const tuner::CurrentState current_state = current();
  PipelineStats stats = run_.pipeline().stats();
  const MeteredSource& source = run_.source();
  Before now{.stats = {},
             .at = run_.clock().now(),
             .paused = source.paused(),
             .waited = source.waited(),
             .worked = source.worked(),
             .steps = source.steps(),
             .cpu_seconds = process_cpu_seconds()};
  const Before& before = *before_;
  tuner::Observation seen;
  seen.at_seconds = in_seconds(now.at - began_);
  seen.seconds = std::max(0.0, in_seconds(now.at - before.at - (now.paused - before.paused)));
  seen.limits = current_state.limits;
  double stages_cpu = 0;
  for (std::size_t i = 0; i < kNumStages; ++i) {
    seen.stages.push_back(observation_of(before.stats.stages[i].pool, stats.stages[i].pool));
    tuner::StageObservation& stage = seen.stages.back();
    stage.actors = current_state.actors[i];
    stage.queue_fill = sampler_->fill(i);
    stage.queued_bytes = stats.stages[i + 1].pool.queued_bytes;
    stages_cpu += stage.cpu_seconds;
  }
  seen.trainer_steps = now.steps - before.steps;
  seen.splits_per_item = splits_per_batch(stats);
  seen.trainer_step_seconds = in_seconds(now.worked - before.worked);
  seen.trainer_wait_seconds = std::max(0.0, in_seconds(now.waited - before.waited));
  seen.other_cpu_seconds = std::max(0.0, now.cpu_seconds - before.cpu_seconds - stages_cpu);
  seen.prefetch = prefetch_;
  seen.prefetch_fill = sampler_->prefetch();
  seen.prefetch_full = stats.prefetch_full - before.stats.prefetch_full;
  seen.prefetch_empty = stats.prefetch_empty - before.stats.prefetch_empty;
  seen.memory_bytes = current_state.memory_bytes;
  seen.memory_peak = std::max(sampler_->peak(), seen.memory_bytes);
  now.stats = std::move(stats);
  *before_ = std::move(now);
  *sampler_ = {};
  return seen;
}

// Shrinks stages before it grows others. A change that the pipeline refuses for lack of memory is
// tried again at the next step.
void LivePipeline::apply(const tuner::Allocation& allocation) {
  const auto current = counts(run_.pipeline().allocation());
  for (const bool growing : {false, true}) {
    for (std::size_t i = 0; i < kNumStages; ++i) {
      const int wanted = static_cast<int>(allocation.actors[i]);
      if (wanted == current[i] || (wanted > current[i]) != growing) continue;
      static_cast<void>(run_.pipeline().resize(kStages[i], wanted));
    }
  }
  if (allocation.prefetch != prefetch_) {
    prefetch_ = allocation.prefetch;
    run_.pipeline().set_prefetch(prefetch_ * description_.prefetch_item_bytes);
  }
}

Status LivePipeline::set_cpus(int cpus) {
  if (auto status = cpu_limit_.set(cpus); !status) return status;
  cpus_ = cpus;
  return {};
}

Status LivePipeline::set_memory(std::uint64_t bytes) {
  const std::uint64_t taken = run_.resident_before() + kMemorySlack;
  const std::uint64_t least = taken + least_room(kNumStages, run_.pipeline().sizes());
  if (bytes < least) {
    return fail(Code::kInvalid, "pipeline.memory: this job needs at least " +
                                    std::to_string((least >> 20) + 1) + " MiB");
  }
  memory_ = bytes;
  settle_room();
  return {};
}

bool LivePipeline::set_held(std::uint64_t bytes) {
  const std::uint64_t steps = (bytes + kHeldStep - 1) / kHeldStep * kHeldStep;
  const std::uint64_t taken = run_.resident_before() + kMemorySlack;
  const std::uint64_t least = least_room(kNumStages, run_.pipeline().sizes());
  if (bytes > 0 && taken + least + bytes > limits().memory_bytes) return false;
  if (held_.exchange(steps) != steps) settle_room();
  return true;
}

}  // namespace forebay
