#pragma once

#include <string>

#include "engine/job/job_spec.h"
#include "engine/run/run_outcome.h"
#include "tools/terminal/summary.h"

namespace forebay {

/// The end of a run of `job`: figures, a table of the stages, the bottleneck and why.
std::string summary_of(const RunOutcome& outcome, const JobSpec& job,
                       SummaryView::Consumer consumer);

}  // namespace forebay
