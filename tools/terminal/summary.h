#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/job_spec.h"
#include "engine/run/run_outcome.h"
#include "tools/terminal/stage_views.h"

namespace forebay {

/// The figures of a finished run for its summary.
struct SummaryView {
  std::uint64_t rows = 0;
  std::uint64_t batches = 0;
  double seconds = 0;
  double starved_ratio = 0;
  std::uint64_t peak_memory_bytes = 0;
  std::uint64_t memory_limit = 0;
  std::uint64_t cpus = 0;
  double cpus_busy = 0;  ///< CPU seconds of the process over `seconds`.
  std::vector<StageView> stages = {};
  std::uint64_t decisions = 0;  ///< Decisions of the tuner.
  std::string tuner = {};       ///< Description of the tuner's last decision.

  enum class Consumer : std::uint8_t { kTrainer, kNobody };
  Consumer consumer = Consumer::kTrainer;
};

/// Returns the bottleneck and the reason in one sentence, with advice.
///
/// The bottleneck is the trainer if it hardly ever waited for a batch; the CPUs if all of them were
/// busy, with the stage that used most; else the stage with the busiest actors. Pure.
std::string name_bottleneck(const SummaryView& view);

/// Returns the whole summary: figures, a table of the stages, the bottleneck.
std::string format_summary(const SummaryView& view);

/// Returns the summary of a finished run of `job`: figures, a table of the stages, the bottleneck
/// and the reason.
std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer);

}  // namespace forebay
