#pragma once

#include <string>

#include "engine/job/job_spec.h"
#include "engine/run/run_outcome.h"
#include "tools/terminal/summary.h"

namespace forebay {

/// Returns the summary of a finished run of `job`: figures, a table of the stages, the bottleneck
/// and the reason.
std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer);

}  // namespace forebay
