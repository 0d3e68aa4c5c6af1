#pragma once

#include "tools/compare/compare_json.h"
#include "tools/compare/table.h"

namespace forebay {

/// Returns one line for each policy: both ratios, decisions to 95 %, out of memory, actors, memory,
/// CPU time.
Table summary_table(const ComparisonResult& result);

/// Returns one line for each policy on its recovery after events; no rows if no pipeline has
/// events.
Table recovery_table(const ComparisonResult& result);

/// Returns one line for each pipeline and policy: means over seeds, with the pipeline's bottleneck
/// share.
Table pipeline_table(const ComparisonResult& result);

/// Returns where `intune` is behind, by how much and why.
Table gap_table(const ComparisonResult& result);

}  // namespace forebay
