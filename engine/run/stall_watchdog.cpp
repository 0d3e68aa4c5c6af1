#include "engine/run/stall_watchdog.h"

#include <chrono>
#include <utility>

namespace forebay {
namespace {

std::string format_seconds(std::chrono::nanoseconds time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count()) + " s";
}

}  // namespace

StallWatchdog::StallWatchdog(const JobRun& run, const RunSpec& spec, Hooks hooks)
    : run_(run),
      hooks_(std::move(hooks)),
      stalls_({spec.stall_after, spec.stall_fail}, run.clock().now()) {}

void StallWatchdog::look() {
  if (failed_) return;
  const PipelineStats stats = run_.pipeline().stats();
  const auto now = run_.clock().now();
  const std::uint64_t taken = run_.source().batches() + run_.source().beside();
  const auto verdict = stalls_.look(progress_of(stats, taken), now);
  if (verdict != StallWatch::Verdict::kWarnNow && verdict != StallWatch::Verdict::kFailNow) return;
  std::string what = "no progress for " + format_seconds(stalls_.stalled_for(now)) + ": " +
                     describe_stall(stats, run_.source().trainer_is_busy(), now);
  if (const std::string where = run_.elsewhere(); !where.empty()) what += " (" + where + ")";
  if (verdict == StallWatch::Verdict::kWarnNow) hooks_.warn(what);
  if (verdict != StallWatch::Verdict::kFailNow) return;
  failed_ = true;
  hooks_.fail(what);
}

}  // namespace forebay
