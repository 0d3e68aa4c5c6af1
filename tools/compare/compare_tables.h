#pragma once

#include "tools/compare/compare_json.h"
#include "tools/compare/table.h"

namespace forebay {

/// A line a policy: both ratios, decisions to 95 %, out of memory, actors, memory, CPU time.
Table summary_table(const ComparisonResult& result);

/// How policies came back after events, a line a policy; no rows where nothing changed.
Table recovery_table(const ComparisonResult& result);

/// A line a pipeline and policy, means over seeds, with the pipeline's bottleneck share.
Table pipeline_table(const ComparisonResult& result);

/// Where `intune` is behind, by how much and why.
Table gap_table(const ComparisonResult& result);

}  // namespace forebay
