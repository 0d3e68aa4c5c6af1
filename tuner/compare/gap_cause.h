#pragma once

#include <string>
#include <vector>

#include "tuner/compare/run.h"

namespace forebay::tuner {

/// Runs of one policy on one pipeline, at least one run.
using RunGroup = std::vector<const ComparedRun*>;

/// Runs of a policy, and the runs of a rival that is ahead of it on the same pipeline.
struct GapRuns {
  const RunGroup& ours;
  const RunGroup& theirs;
};

/// Why a policy is behind from the first decision on: the part of the time in which it lost most
/// (out of memory, the start, after changes, in between), and for the last of these the result of
/// late_cause().
std::string overall_cause(const PipelineModel& model, const GapRuns& sides);

/// Why it is behind once it has settled: the first of these causes that its runs show: out of
/// memory, changes, memory, contention, too few actors, noise, chance.
std::string late_cause(const PipelineModel& model, const GapRuns& sides);

}  // namespace forebay::tuner
