#include "engine/run/tuned_stages.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "actors/sizing.h"
#include "core/base/clock.h"
#include "engine/job/quantity.h"
#include "engine/process/memory_use.h"
#include "tuner/fused_stages.h"
#include "tuner/guard.h"

namespace forebay {

tuner::StageObservation observation_of(const PoolStats& before, const PoolStats& now) {
  const ActorTotals& a = before.totals;
  const ActorTotals& b = now.totals;
  tuner::StageObservation seen;
  seen.leaving = static_cast<std::uint32_t>(now.retiring);
  seen.working_seconds = in_seconds(b.busy - a.busy);
  seen.input_wait_seconds = in_seconds(b.wait_input - a.wait_input);
  seen.output_wait_seconds = in_seconds(b.wait_output - a.wait_output);
  seen.actor_seconds = seen.working_seconds + seen.input_wait_seconds + seen.output_wait_seconds;
  seen.cpu_seconds = in_seconds(b.cpu - a.cpu);
  seen.done = b.messages - a.messages;
  seen.done_seconds = in_seconds(b.done.time - a.done.time);
  seen.done_seconds_squared = b.done.squared_seconds - a.done.squared_seconds;
  seen.done_cpu_seconds = in_seconds(b.done.cpu - a.done.cpu);
  seen.done_ready_seconds = in_seconds(b.done.ready - a.done.ready);
  seen.done_actors = static_cast<double>(b.done.actors - a.done.actors);
  return seen;
}

double fill_behind(const PipelineStats& stats, std::size_t stage, std::size_t stages) {
  if (stage + 1 == stats.stages.size()) return 0;
  const PoolStats& next = stats.stages[stage + 1].pool;
  const bool last = stage + 1 == stages;
  const std::size_t bound = last ? stats.window_capacity : next.mailbox_bytes;
  if (bound == 0) return 0;
  return std::min(1.0, static_cast<double>(next.queued_bytes) / static_cast<double>(bound));
}

tuner::PipelineDescription describe_stages(const JobSpec& job, double cpus,
                                           const MemorySizes& sizes, std::uint64_t resident_before,
                                           const StageGroups& groups) {
  tuner::PipelineDescription description;
  for (const std::size_t first : groups.firsts(job.stages.size())) {
    std::vector<std::string> names;
    tuner::StageDescription group{.name = "",
                                  .max_actors = job.stages[first].max_actors,
                                  .bytes_per_actor = sizes.usual_split + kThreadBytes};
    for (std::size_t i = first; i < groups.end(first); ++i) {
      names.push_back(job.stages[i].name);
      group.max_actors = std::min(group.max_actors, job.stages[i].max_actors);
      group.bytes_per_actor += i < sizes.children.size() ? sizes.children[i] : 0;
    }
    group.name = tuner::group_name(names);
    description.stages.push_back(std::move(group));
  }
  const std::uint64_t usual = static_cast<std::uint64_t>(2 * cpus) + job.stages.size();
  description.max_actors = static_cast<std::uint32_t>(
      job.max_actors > 0 ? job.max_actors : std::max(usual, job.pipeline.total_actors()));
  description.fixed_bytes = resident_before + kMemorySlack + kOtherActors * kThreadBytes;
  return description;
}

void mark_user_code(tuner::PipelineDescription& description, const TransformPlan& plan) {
  constexpr std::string_view kOp = "udf";
  for (const PlannedStep& step : plan.as_run()) {
    if (step.name != kOp) continue;
    for (tuner::StageDescription& group : description.stages) {
      const std::vector<std::string> stages = tuner::stages_in(group.name);
      if (std::ranges::find(stages, step.stage) != stages.end()) group.calls_user_code = true;
    }
  }
}

std::string changed_limits(const tuner::Limits& before, const tuner::Limits& now) {
  const auto cpus = [](const tuner::Limits& limits) {
    return std::to_string(std::lround(limits.cpus));
  };
  std::string text;
  if (now.cpus != before.cpus) {
    text = "this process may use " + cpus(now) + " of the " + cpus(before) +
           " CPUs that it had (its affinity or cgroup was changed)";
    if (now.cpus > before.cpus) {
      text = "this process may use " + cpus(now) + " CPUs again, after " + cpus(before);
    }
  }
  if (now.memory_bytes != before.memory_bytes) {
    text.append(text.empty() ? "" : "; ")
        .append("its memory limit is " + format_size(now.memory_bytes) + " now, not " +
                format_size(before.memory_bytes) + " (its cgroup was changed)");
  }
  return text;
}

void observe_client(tuner::Observation& seen, std::uint64_t made, double client_busy) {
  constexpr double kLeastBusy = 0.05;
  seen.trainer_steps = made;
  seen.splits_per_item = 1;
  seen.trainer_step_seconds = seen.seconds * std::clamp(client_busy, kLeastBusy, 1.0);
  seen.trainer_wait_seconds = seen.seconds - seen.trainer_step_seconds;
}

TunedStages::TunedStages(Options options)
    : options_(std::move(options)),
      moves_cuts_(std::ranges::any_of(options_.description.stages,
                                      [](const auto& stage) { return stage.least_actors == 0; })),
      began_(options_.clock.now()),
      before_(sums(options_.stages.stats())) {}

std::vector<std::size_t> TunedStages::tuned_stages(const StageGroups& groups) const {
  return (moves_cuts_ ? StageGroups::apart() : groups).firsts(options_.stages.size());
}

TunedStages::Sums TunedStages::sums(std::vector<StageStats> stages) const {
  return {.stages = std::move(stages),
          .at = options_.clock.now(),
          .cpu_seconds = process_cpu_seconds()};
}

std::uint64_t TunedStages::account() const {
  return options_.resident_before + kMemorySlack +
         (options_.stages.threads() + kOtherActors) * kThreadBytes +
         options_.stages.children_bytes() + options_.buffers.budget().used();
}

void TunedStages::tick() {
  const PipelineStats now = stats();
  const std::size_t stages = options_.stages.size();
  ++samples_.count;
  samples_.fill.resize(stages);
  for (std::size_t i = 0; i < stages; ++i) samples_.fill[i] += fill_behind(now, i, stages);
  samples_.prefetch_fill += prefetch_fill(now);
  sample(now);
  const std::uint64_t accounted = account();
  samples_.memory_peak = std::max(samples_.memory_peak, accounted);
  follow_memory(process_bytes(), accounted);
  return_idle_buffers();
}

// When the process nears its memory limit, idle buffers go back to the system. From then on the
// guard adds no actor, and unused buffers must not keep the process in this state. A buffer that is
// needed again costs fresh pages, so they go at most every ten seconds.
void TunedStages::return_idle_buffers() {
  constexpr std::chrono::seconds kBetween(10);
  const auto now = options_.clock.now();
  if (!tuner::nearly_full(current()) || now - buffers_returned_ < kBetween) return;
  buffers_returned_ = now;
  options_.buffers.trim();
}

tuner::CurrentState TunedStages::current() const {
  const PipelineStats queues = stats();
  tuner::CurrentState now;
  now.limits = current_limits();
  const std::vector<std::uint32_t> actors = options_.stages.actors();
  const StageGroups groups = options_.stages.groups();
  for (const std::size_t first : tuned_stages(groups)) {
    now.actors.push_back(groups.first(first) == first ? actors[first] : 0);
    now.leaving.push_back(static_cast<std::uint32_t>(queues.stages[first].pool.retiring));
  }
  now.prefetch = prefetch();
  const std::uint64_t item = options_.description.prefetch_item_bytes;
  now.prefetched = static_cast<std::uint32_t>((queues.prefetch_bytes + item - 1) / item);
  now.memory_bytes = account();
  now.process_bytes = process_bytes();
  now.resident_bytes = now.memory_bytes + beyond(now.process_bytes, now.memory_bytes);
  return now;
}

tuner::Observation TunedStages::observe() {
  const PipelineStats queues = stats();
  const std::vector<std::uint32_t> actors = options_.stages.actors();
  const StageGroups groups = options_.stages.groups();
  Sums now = sums(queues.stages);
  tuner::Observation seen;
  seen.at_seconds = in_seconds(now.at - began_);
  seen.seconds = in_seconds(now.at - before_.at);
  seen.limits = current_limits();
  samples_.fill.resize(actors.size());
  double stages_cpu = 0;
  std::vector<tuner::StageObservation> each;
  for (std::size_t i = 0; i < actors.size(); ++i) {
    tuner::StageObservation stage = observation_of(before_.stages[i].pool, now.stages[i].pool);
    stage.actors = moves_cuts_ && groups.first(i) != i ? 0 : actors[i];
    stage.queue_fill = samples_.mean(samples_.fill[i]);
    if (i + 1 < queues.stages.size()) {
      stage.queued_bytes = queues.stages[i + 1].pool.queued_bytes;
    }
    stages_cpu += stage.cpu_seconds;
    each.push_back(stage);
  }
  const std::vector<std::size_t> tuned = tuned_stages(groups);
  for (std::size_t i = 0; i < tuned.size(); ++i) {
    const std::size_t end = i + 1 < tuned.size() ? tuned[i + 1] : each.size();
    seen.stages.push_back(
        tuner::observation_of_group({each.begin() + static_cast<std::ptrdiff_t>(tuned[i]),
                                     each.begin() + static_cast<std::ptrdiff_t>(end)}));
  }
  seen.other_cpu_seconds = std::max(0.0, now.cpu_seconds - before_.cpu_seconds - stages_cpu);
  seen.prefetch = prefetch();
  seen.prefetch_fill = samples_.mean(samples_.prefetch_fill);
  seen.memory_bytes = account();
  seen.memory_peak = std::max(samples_.memory_peak, seen.memory_bytes);
  observe_consumer(queues, seen);
  before_ = std::move(now);
  samples_ = {};
  return seen;
}

// Shrinks stages, and joins them, before it grows others.
void TunedStages::apply(const tuner::Allocation& allocation) {
  const std::vector<std::uint32_t> standing = current().actors;
  const std::vector<std::size_t> tuned = tuned_stages(options_.stages.groups());
  for (const bool growing : {false, true}) {
    for (std::size_t i = 0; i < tuned.size(); ++i) {
      const std::uint32_t wanted = allocation.actors[i];
      if (wanted == standing[i] || (wanted > standing[i]) != growing) continue;
      static_cast<void>(options_.stages.resize(tuned[i], wanted));
    }
  }
  if (allocation.prefetch != prefetch()) set_prefetch(allocation.prefetch);
}

}  // namespace forebay
