#pragma once

#include <string>
#include <vector>

#include "tuner/compare/run.h"

namespace forebay::tuner {

/// Runs of one policy on one pipeline, at least one.
using RunGroup = std::vector<const ComparedRun*>;

/// Runs of a policy, and those of a rival that is ahead of it on the same pipeline.
struct GapRuns {
  const RunGroup& ours;
  const RunGroup& theirs;
};

/// Why a policy is behind from the first decision on: the part of the time in which it lost most
/// (its death, the start, after changes, in between), and for the last what late_cause() says.
std::string overall_cause(const PipelineModel& model, const GapRuns& sides);

/// Why it is behind once it has settled: the first of what its runs show of death, changes, memory,
/// contention, too few actors, noise, chance.
std::string late_cause(const PipelineModel& model, const GapRuns& sides);

}  // namespace forebay::tuner
