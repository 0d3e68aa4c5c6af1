#include "engine/run/live_pipeline.h"

#include <algorithm>

#include "core/base/clock.h"
#include "engine/process/machine.h"
#include "engine/process/memory_use.h"

namespace forebay {
namespace {

constexpr std::uint64_t kFewestItemsAtMost = 64;
/// The kernel's figure fluctuates; the excess over the account is rounded to steps of this size.
constexpr std::uint64_t kBeyondStep = std::uint64_t{8} << 20;
/// What a consumer keeps is known exactly.
constexpr std::uint64_t kHeldStep = std::uint64_t{1} << 20;

std::uint32_t items(std::uint64_t bytes, std::uint64_t each) {
  return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(bytes / each, 1, 1 << 20));
}

tuner::PipelineDescription description_with(Cuts cuts, const JobRun& run, const JobSpec& job) {
  const StageGroups groups = run.pipeline().stages().groups();
  if (cuts == Cuts::kOfJob) return description_of(run, job, groups);
  tuner::PipelineDescription description = description_of(run, job, StageGroups::apart());
  for (std::size_t i = 0; i < description.stages.size(); ++i) {
    if (groups.first(i) != i) description.stages[i].least_actors = 0;
  }
  return description;
}

/// The messages that left the last stage here; behind it is the batch stage.
std::uint64_t made_by(const PipelineStats& stats) {
  return stats.stages[stats.stages.size() - 2].pool.totals.messages;
}

}  // namespace

tuner::PipelineDescription description_of(const JobRun& run, const JobSpec& job,
                                          const StageGroups& groups) {
  const MemorySizes& sizes = run.pipeline().sizes();
  const std::uint64_t least = job.stages.size();
  tuner::PipelineDescription description =
      describe_stages(job, job.pipeline.cpus, sizes, run.resident_before(), groups);
  description.default_prefetch = items(run.memory_plan().prefetch, sizes.batch);
  description.max_prefetch = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(kFewestItemsAtMost, description.default_prefetch));
  description.prefetch_item_bytes = sizes.batch;
  description.fixed_bytes += 2 * sizes.held + window_for(least, least, sizes) -
                             least * sizes.usual_split + sizes.cutting + sizes.batch;
  description.rows_per_split = sizes.rows;
  mark_user_code(description, run.plan());
  return description;
}

LivePipeline::LivePipeline(JobRun& run, const JobSpec& job, const CpuLimit& cpus,
                           MachineWatch::Read read, Cuts cuts)
    : TunedStages({.stages = run.pipeline().stages(),
                   .buffers = run.buffers(),
                   .clock = run.clock(),
                   .description = description_with(cuts, run, job),
                   .resident_before = run.resident_before()}),
      run_(run),
      cpu_limit_(cpus),
      cpus_(job.pipeline.cpus),
      memory_(job.pipeline.memory_bytes),
      machine_(std::move(read)),
      prefetch_(description().default_prefetch) {
  const PipelineStats now = stats();
  before_.prefetch_full = now.prefetch_full;
  before_.prefetch_empty = now.prefetch_empty;
}

tuner::Limits LivePipeline::limits() const {
  const int cpus = std::min({cpus_.load(), cpu_limit_.most(), machine_.cpus()});
  return {.cpus = static_cast<double>(cpus),
          .memory_bytes = std::min(memory_.load(), machine_.memory_bytes())};
}

// The guard obeys the new limits at its next step, the pipeline's memory at once.
void LivePipeline::look_at_machine() {
  const tuner::Limits before = limits();
  if (!machine_.look()) return;
  const tuner::Limits now = limits();
  if (now.memory_bytes != before.memory_bytes) settle_room();
  const std::string changed = changed_limits(before, now);
  if (!changed.empty() && say_) say_(changed);
}

// Grows at once, shrinks only by a whole step, so that small fluctuations do not move the room.
void LivePipeline::follow_memory(std::uint64_t process, std::uint64_t accounted) {
  const std::uint64_t now = process > accounted ? process - accounted : 0;
  const std::uint64_t steps = (now + kBeyondStep - 1) / kBeyondStep * kBeyondStep;
  const std::uint64_t before = beyond_;
  if (steps <= before && now + kBeyondStep >= before) return;
  beyond_ = steps;
  settle_room();
}

// Called by the tuner, by the user who sets the memory, and by the program that holds batches.
void LivePipeline::settle_room() {
  room_([this] {
    const std::uint64_t taken = run_.resident_before() + kMemorySlack + beyond_ + held_;
    const std::uint64_t limit = limits().memory_bytes;
    run_.pipeline().set_room(limit > taken ? limit - taken : 0);
  });
}

void LivePipeline::set_prefetch(std::uint32_t batches) {
  prefetch_ = batches;
  run_.pipeline().set_prefetch(batches * description().prefetch_item_bytes);
}

double LivePipeline::prefetch_fill(const PipelineStats& stats) const {
  if (stats.prefetch_budget == 0) return 0;
  return std::min(
      1.0, static_cast<double>(stats.prefetch_bytes) / static_cast<double>(stats.prefetch_budget));
}

// The head leases this node as many splits as its actors can work on, if there are any.
void LivePipeline::sample(const PipelineStats& stats) {
  std::uint64_t held = 0;
  for (std::size_t i = 0; i + 1 < stats.stages.size(); ++i) {
    const PoolStats& pool = stats.stages[i].pool;
    held += pool.queued_messages + pool.waiting_offers;
    held += static_cast<std::uint64_t>(std::ranges::count_if(
        pool.each, [](const PoolActorView& actor) { return actor.state == ActorState::kBusy; }));
  }
  look_at_machine();
  ++short_.samples;
  if (held < run_.pipeline().stages().actors_wanted()) ++short_.yes;
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
  return static_cast<double>(rows) / static_cast<double>(description().rows_per_split);
}

void LivePipeline::observe_consumer(const PipelineStats& stats, tuner::Observation& seen) {
  const MeteredSource& source = run_.source();
  const Consumed now{.paused = source.paused(),
                     .waited = source.waited(),
                     .worked = source.worked(),
                     .steps = source.steps(),
                     .prefetch_full = stats.prefetch_full,
                     .prefetch_empty = stats.prefetch_empty,
                     .made = made_by(stats),
                     .batched = stats.stages.back().pool.totals.messages};
  seen.seconds = std::max(0.0, seen.seconds - in_seconds(now.paused - before_.paused));
  seen.trainer_steps = now.steps - before_.steps;
  seen.splits_per_item = splits_per_batch(stats);
  seen.trainer_step_seconds = in_seconds(now.worked - before_.worked);
  seen.trainer_wait_seconds = std::max(0.0, in_seconds(now.waited - before_.waited));
  seen.prefetch_full = now.prefetch_full - before_.prefetch_full;
  seen.prefetch_empty = now.prefetch_empty - before_.prefetch_empty;
  // More has become batches than was ever made here: other nodes make splits, too. An actor counts
  // a split after it has handed it on, so each may be one behind.
  const std::size_t uncounted = stats.stages[stats.stages.size() - 2].pool.actors;
  if (now.batched > now.made + uncounted && now.batched > before_.batched) {
    const double busy = short_.samples > 0 ? short_.yes / short_.samples : 0;
    observe_client(seen, now.made - before_.made, busy);
  }
  short_ = {};
  before_ = now;
}

Status LivePipeline::set_cpus(int cpus) {
  if (auto status = cpu_limit_.set(cpus); !status) return status;
  cpus_ = cpus;
  machine_.refresh();
  return {};
}

Status LivePipeline::set_memory(std::uint64_t bytes) {
  const std::uint64_t taken = run_.resident_before() + kMemorySlack;
  const std::uint64_t least =
      taken + least_room(description().stages.size(), run_.pipeline().sizes());
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
  const std::uint64_t least = least_room(description().stages.size(), run_.pipeline().sizes());
  if (bytes > 0 && taken + least + bytes > limits().memory_bytes) return false;
  if (held_.exchange(steps) != steps) settle_room();
  return true;
}

}  // namespace forebay
