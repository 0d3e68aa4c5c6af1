#include "tools/terminal/run_summary.h"

#include "tools/terminal/stage_views.h"

namespace forebay {

std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer) {
  return format_summary({.rows = outcome.rows,
                         .batches = outcome.batches,
                         .seconds = outcome.seconds,
                         .starved_ratio = outcome.starved_ratio,
                         .peak_memory_bytes = outcome.peak_memory_bytes,
                         .memory_limit = outcome.memory_limit,
                         .cpus = static_cast<std::uint64_t>(job.pipeline.cpus),
                         .cpus_busy = outcome.cpus_busy,
                         .stages = stage_views({}, outcome.stats),
                         .decisions = outcome.decisions,
                         .tuner = outcome.last_decision,
                         .consumer = consumer});
}

}  // namespace forebay
