#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/job/job_spec.h"
#include "engine/metrics/stage_view.h"
#include "engine/run/run_outcome.h"
#include "engine/train/train_report.h"

namespace forebay {

/// A finished run as its summary shows it.
struct SummaryView {
  const RunOutcome& outcome;
  std::uint64_t cpus = 0;
  std::vector<StageView> stages = {};

  enum class Consumer : std::uint8_t { kTrainer, kNobody };
  Consumer consumer = Consumer::kTrainer;
};

/// Returns the bottleneck and the reason in one sentence, with advice (engine/metrics/verdict.h).
/// Pure.
std::string name_bottleneck(const SummaryView& view);

/// Returns the whole summary: figures, a table of the stages, the bottleneck.
std::string format_summary(const SummaryView& view);

/// Returns the summary of a finished run of `job`: figures, a table of the stages, the bottleneck
/// and the reason.
std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer);

/// Prints the report of a training run of `job` to stdout for the user.
void print_report(const TrainReport& report, const JobSpec& job);

/// Prints the same as one JSON object.
void print_report_as_json(const TrainReport& report);

}  // namespace forebay
