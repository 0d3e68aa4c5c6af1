#include "engine/run/stage_observation.h"

#include <algorithm>

#include "core/base/clock.h"

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

}  // namespace forebay
