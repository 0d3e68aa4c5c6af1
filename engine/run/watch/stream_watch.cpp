#include "engine/run/watch/stream_watch.h"

#include <utility>

#include "core/base/text/seconds.h"

namespace forebay {
namespace {

struct Holder {
  const StageStats* stage = nullptr;
  const PoolActorView* actor = nullptr;
};

/// Finds the actor that works on the lowest split: all later splits wait for it.
Holder lowest_in_work(const PipelineStats& stats) {
  Holder lowest;
  for (const StageStats& stage : stats.stages) {
    for (const PoolActorView& actor : stage.pool.each) {
      if (actor.state != ActorState::kBusy) continue;
      if (lowest.actor == nullptr || actor.key < lowest.actor->key) lowest = {&stage, &actor};
    }
  }
  return lowest;
}

}  // namespace

std::string describe_stall(const PipelineStats& stats, bool trainer_is_busy,
                           std::chrono::nanoseconds now) {
  const Holder holder = lowest_in_work(stats);
  if (holder.actor != nullptr) {
    return "stage " + holder.stage->name + ": actor " + holder.stage->name + "-" +
           std::to_string(holder.actor->number) + " has worked on split " +
           std::to_string(holder.actor->key) + " for " +
           format_whole_seconds(now - holder.actor->since) + ", and everything behind it waits";
  }
  if (trainer_is_busy)
    return "the trainer has worked on one batch all this time; the pipeline waits for it";
  return "no actor has work: the batcher waits for split " + std::to_string(stats.lowest_missing) +
         " of " + std::to_string(stats.splits_issued) + " issued";
}

std::uint64_t progress_of(const PipelineStats& stats, std::uint64_t batches_taken) {
  std::uint64_t progress = batches_taken;
  for (const StageStats& stage : stats.stages) progress += stage.pool.totals.messages;
  return progress;
}

StreamWatch::StreamWatch(Options options)
    : options_(std::move(options)),
      stalls_({options_.spec.stall_after, options_.spec.stall_fail}, options_.run.clock().now()) {}

void StreamWatch::look() {
  JobRun& run = options_.run;
  if (!stopped_ && options_.events.stop_requested()) {
    stopped_ = true;
    run.stop();
  }
  if (failed_) return;
  const PipelineStats stats = run.pipeline().stats();
  const auto now = run.clock().now();
  if (!options_.spec.owns_process && run.source().trainer_is_busy()) return stalls_.rest(now);
  const std::uint64_t taken = run.source().batches() + run.source().beside();
  const auto verdict = stalls_.look(progress_of(stats, taken), now);
  if (verdict != StallWatch::Verdict::kWarnNow && verdict != StallWatch::Verdict::kFailNow) return;
  std::string what = options_.prefix + "no progress for " +
                     format_whole_seconds(stalls_.stalled_for(now)) + ": " +
                     describe_stall(stats, run.source().trainer_is_busy(), now);
  if (const std::string where = run.elsewhere(); !where.empty()) what += " (" + where + ")";
  options_.say(what);
  if (verdict == StallWatch::Verdict::kFailNow) stalled(what);
}

// The thread that waits for a batch gets the error; stuck actors stay stuck.
void StreamWatch::stalled(const std::string& what) {
  failed_ = true;
  if (options_.events.stalled) options_.events.stalled(what);
  options_.run.pipeline().end_with({Code::kTimeout, what});
}

}  // namespace forebay
